"""The specs of QueueBox and Route."""

from typing import Annotated, Final

from pydantic import Field, Strict

from queuebox_api.config.block import Block, Rule
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
    return made(
        "QueueBoxSpec", "One database, and the agents that move messages from and to it.", fields, _CAPTURE_FITS
    )


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
