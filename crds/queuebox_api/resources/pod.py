"""What a box says of the pods of its agents: names and limits as Kubernetes has them."""

import re
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, Strict

from queuebox_api.config.block import Block, Rule, Rules, matching, not_both
from queuebox_api.config.fields import Shape

OPAQUE: Final = {"x-kubernetes-preserve-unknown-fields": True}

Int32 = Annotated[int, Strict()]
QualifiedName = Annotated[
    str,
    Field(max_length=317),
    Shape(
        r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?",
        "must be a name with an optional prefix, as Kubernetes has them: example.com/name",
    ),
]
LabelValue = Annotated[
    str, Field(max_length=63), Shape("([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", "must be the value of a label")
]
PodName = Annotated[
    str, Field(max_length=63), Shape("[a-z0-9]([-a-z0-9]*[a-z0-9])?", "must be lower case letters, digits and -")
]
Quantity = Annotated[
    str,
    Field(max_length=32),
    Shape(
        r"[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei|[eE][0-9]+)?", "must be a quantity, such as 250m or 128Mi"
    ),
]
Quantities = Annotated[dict[QualifiedName, Quantity], Field(max_length=16)]
AbsolutePath = Annotated[str, Field(max_length=4096), Shape("/[^:]*", "must be an absolute path without a colon")]
Opaque = Annotated[dict[str, Any], Field(max_length=64, json_schema_extra=OPAQUE)]


_OUR_VOLUMES: Final = "queuebox-"
_OUR_FOLDERS: Final = r"/+(tmp/*|(etc/+queuebox|(var/+)?run/+secrets/+queuebox)(/[\s\S]*)?)"
_NO_VOLUME_OF_OURS: Final = Rule(
    f"!self.name.startsWith('{_OUR_VOLUMES}')",
    f"must not start with {_OUR_VOLUMES}: the volumes of the operator do",
    lambda it: not it.name.startswith(_OUR_VOLUMES),
    at=("name",),
)
_NO_FOLDER_OF_OURS: Final = Rule(
    "!" + matching(f"^{_OUR_FOLDERS}$", "self.mountPath"),
    "must not be /tmp, nor be in /etc/queuebox or /run/secrets/queuebox: the operator mounts those",
    lambda it: re.fullmatch(_OUR_FOLDERS, it.mount_path) is None,
    at=("mountPath",),
)


class Resources(Block):
    """What an agent asks of its node and may take."""

    requests: Quantities = Field(default_factory=dict)
    """What the node keeps free for it, such as `cpu: 100m` and `memory: 128Mi`."""
    limits: Quantities = Field(default_factory=dict)
    """What it may take at most."""


class Toleration(Block):
    """A taint that the agents do not mind."""

    key: QualifiedName | None = None
    """The taint. None with `operator: Exists` is every taint."""
    operator: Literal["Exists", "Equal"] | None = None
    """How `value` is compared. Default: `Equal`."""
    value: LabelValue | None = None
    """The value of the taint."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """The effect of the taint. None is every effect."""
    toleration_seconds: Int32 | None = Field(default=None, ge=0, le=2_147_483_647)
    """How long a `NoExecute` taint is borne. None is for ever."""


class SpreadConstraint(Block):
    """How evenly the agents stand."""

    max_skew: Int32 = Field(ge=1, le=1000)
    """By how many agents two places may differ."""
    topology_key: QualifiedName
    """The label of nodes that makes a place, such as `topology.kubernetes.io/zone`."""
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    """What happens when it cannot be so."""


class EnvVar(Block):
    """A variable in the environment of the agent. A key of the configuration is set in the spec, not here."""

    rules: ClassVar[Rules] = (
        not_both("value", "valueFrom"),
        Rule(
            "!self.name.startsWith('QUEUEBOX_')",
            "must not start with QUEUEBOX_: set the key in the spec",
            lambda it: not it.name.startswith("QUEUEBOX_"),
            at=("name",),
        ),
    )
    name: Annotated[str, Field(max_length=255), Shape("[-._A-Za-z][-._A-Za-z0-9]*", "must be the name of a variable")]
    """The name."""
    value: Annotated[str, Field(max_length=32_768)] | None = None
    """The value. A credential stands in a Secret: use `valueFrom`."""
    value_from: Opaque | None = None
    """Where the value comes from, as in a container: `secretKeyRef`, `configMapKeyRef`, `fieldRef` and others."""


class VolumeMount(Block):
    """Where a volume of `extraVolumes` is in the file system of the agent."""

    rules: ClassVar[Rules] = (_NO_VOLUME_OF_OURS, _NO_FOLDER_OF_OURS)
    name: PodName
    """The volume."""
    mount_path: AbsolutePath
    """The folder."""
    sub_path: Annotated[str, Field(max_length=4096)] | None = None
    """The folder inside the volume."""
    read_only: bool = Field(default=False, strict=True)
    """Whether the agent may not write there."""


class Volume(Block):
    """A volume, as in a pod: a name and one source."""

    model_config: ClassVar[Any] = {"extra": "allow", "json_schema_extra": OPAQUE}
    rules: ClassVar[Rules] = (_NO_VOLUME_OF_OURS,)
    name: PodName
    """The name."""
