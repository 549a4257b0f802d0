"""The four kinds of queuebox.dev/v1alpha1."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from queuebox_api.config.block import Block, Rule
from queuebox_api.resources.cel import told_elsewhere
from queuebox_api.resources.conditions import ConditionType
from queuebox_api.resources.entry import DestinationSpec, SourceSpec
from queuebox_api.resources.specs import QueueBoxSpec, RouteSpec
from queuebox_api.resources.status import QueueBoxStatus, RouteStatus, Status

GROUP: Final = "queuebox.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
CATEGORY: Final = "queuebox"
LONGEST_BOX_NAME: Final = 46
_NAMES_OF_THE_OPERATOR: Final = ("operator", "operator-webhook")
"""With `queuebox-` before them they are those of its own Deployment, Services and ServiceAccount."""


class Column(NamedTuple):
    """A column of `kubectl get`; a wide one is shown with `-o wide`."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False


class Kind(NamedTuple):
    """One kind of custom resource."""

    name: str
    plural: str
    short: str
    text: str
    spec: type[Block]
    status: type[Block]
    columns: tuple[Column, ...]
    scale: Mapping[str, str] | None = None
    selectable: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    """About the object as a whole."""


def _of(condition: ConditionType, field: str) -> str:
    return f'.status.conditions[?(@.type=="{condition}")].{field}'


_READY = (
    Column("Ready", _of(ConditionType.READY, "status")),
    Column("Reason", _of(ConditionType.READY, "reason")),
)
_LAST = (
    Column("Age", ".metadata.creationTimestamp", "date"),
    Column("Accepted", _of(ConditionType.ACCEPTED, "status"), wide=True),
    Column("Message", _of(ConditionType.READY, "message"), wide=True),
)
_BOX = Column("QueueBox", ".spec.queueBoxRef.name")
_TYPE = Column("Type", ".spec.type")
_OF_BOX = (".spec.queueBoxRef.name",)

KINDS: Final = (
    Kind(
        "QueueBox", "queueboxes", "qbox",
        "A database with an outbox and an inbox, and the agents beside it. Sources, Destinations and Routes name it.",
        QueueBoxSpec, QueueBoxStatus,
        (
            *_READY,
            Column("Agents", ".status.readyReplicas", "integer"),
            Column("Pending", ".status.pending", "integer"),
            Column("Dead", ".status.dead", "integer"),
            *_LAST[:1],
            Column("Routes", ".status.routes", "integer", wide=True),
            Column("Oldest", ".status.oldestPendingSeconds", "integer", wide=True),
            *_LAST[1:],
        ),
        scale={
            "specReplicasPath": ".spec.agent.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
        rules=(
            Rule(
                f"self.metadata.name.size() <= {LONGEST_BOX_NAME}",
                f"the name of a QueueBox has at most {LONGEST_BOX_NAME} characters: its agents are named after it",
                told_elsewhere,
            ),
            Rule(
                f"!(self.metadata.name in {list(_NAMES_OF_THE_OPERATOR)})",
                f"the name of a QueueBox is not {' or '.join(_NAMES_OF_THE_OPERATOR)}: "
                "the operator has objects of that name",
                told_elsewhere,
            ),
        ),
    ),
    Kind(
        "Source", "sources", "qsrc", "Where a QueueBox takes messages from: its inbox stores each once.",
        SourceSpec, Status, (_BOX, _TYPE, *_READY, *_LAST), selectable=_OF_BOX,
    ),
    Kind(
        "Destination", "destinations", "qdst", "Where a QueueBox sends the rows of its outbox.",
        DestinationSpec, Status, (_BOX, _TYPE, *_READY, *_LAST), selectable=_OF_BOX,
    ),
    Kind(
        "Route", "routes", "qroute", "Sends the rows of an outbox whose topic matches to one Destination.",
        RouteSpec, RouteStatus,
        (
            _BOX,
            Column("Topics", ".spec.topicPattern"),
            Column("Destination", ".spec.destinationRef.name"),
            *_READY,
            *_LAST[:1],
            Column("Priority", ".spec.priority", "integer", wide=True),
            Column("ShadowedBy", ".status.shadowedBy", wide=True),
            *_LAST[1:],
        ),
        selectable=_OF_BOX,
    ),
)  # fmt: skip


_BY_NAME: Final = {kind.name: kind for kind in KINDS}


def kind(name: str) -> Kind:
    """The kind of that name. Raises KeyError for any other."""
    return _BY_NAME[name]
