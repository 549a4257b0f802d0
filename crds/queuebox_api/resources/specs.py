"""The specs of QueueBox and Route."""

import re
from typing import Annotated, Any, Final

from pydantic import Field, Strict

from queuebox_api.config.block import Block, Rule, matching
from queuebox_api.config.database import DatabaseConfig
from queuebox_api.config.root import CAPTURED_DATABASE, Config
from queuebox_api.config.routes import Route
from queuebox_api.config.structure import Section, node_of_field
from queuebox_api.resources.agent import DEFAULT_AGENT, AgentSpec
from queuebox_api.resources.cel import told_elsewhere
from queuebox_api.resources.database import DatabaseSpec
from queuebox_api.resources.derive import Fields, fields_of, made, rules_of
from queuebox_api.resources.entry import BOX, SUSPEND
from queuebox_api.resources.fields import ObjectRef

SECTIONS: Final = tuple(
    str(field.alias) for field in Config.model_fields.values() if isinstance(node_of_field(field), Section)
)
"""The sections of the configuration that a QueueBox holds: all but the entries, which are resources of their own."""


_CAPTURE_FITS: Final = tuple(
    Rule(
        "!has(self.outbox) || !has(self.outbox.capture) || "
        f"self.outbox.capture.mode != '{mode}' || self.database.type == '{product}'",
        f"{mode} needs database.type {product}",
        told_elsewhere,
        ("outbox", "capture", "mode"),
    )
    for mode, product in CAPTURED_DATABASE.items()
)
_MOUNTABLE: Final = r"/[^:]*|\s*"  # a blank one is refused elsewhere


def _state_can_be_mounted(box: Any) -> bool:  # noqa: ANN401  its type is made below
    capture = box.outbox and box.outbox.capture
    return not (capture and capture.enabled) or re.fullmatch(_MOUNTABLE, capture.state_directory) is not None


_STATE_IS_MOUNTED: Final = Rule(
    "!has(self.outbox) || !has(self.outbox.capture) || !self.outbox.capture.enabled || "
    + matching(f"^({_MOUNTABLE})$", "self.outbox.capture.stateDirectory"),
    "must be an absolute path without a colon: the volume of the capture owner is mounted there",
    _state_can_be_mounted,
    ("outbox", "capture", "stateDirectory"),
)


def _box() -> type[Block]:
    entries = frozenset(str(field.alias) for field in Config.model_fields.values()) - set(SECTIONS)
    database = Field(alias="database", description=DatabaseConfig.__doc__)
    agent = Field(
        default=None, alias="agent", description=AgentSpec.__doc__, json_schema_extra={"default": DEFAULT_AGENT}
    )
    fields: Fields = {
        **fields_of(Config, entries),
        "database": (DatabaseSpec, database),
        "agent": (AgentSpec | None, agent),
        "suspend": SUSPEND,
    }
    text = "One database, and the agents that move messages from and to it."
    return made("QueueBoxSpec", text, fields, (*_CAPTURE_FITS, _STATE_IS_MOUNTED))


def _route() -> type[Block]:
    priority = Field(
        default=0,
        alias="priority",
        description="Higher is tested first, equal ones by name. The first Route that matches wins.",
    )
    fields: Fields = {
        "queue_box_ref": BOX,
        "destination_ref": (
            ObjectRef,
            Field(alias="destinationRef", description="The Destination, of the same box."),
        ),
        "priority": (Annotated[int, Field(ge=-1000, le=1000), Strict()], priority),
        **fields_of(Route, frozenset({"destination"})),
        "suspend": SUSPEND,
    }
    return made("RouteSpec", "Which topics go to which destination.", fields, rules_of(Route))


QueueBoxSpec: Final = _box()
RouteSpec: Final = _route()
