"""The whole of queuebox.yml (spec page 24)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from queuebox_api.config.admin import AdminConfig
from queuebox_api.config.block import Block, Check, Finding, Rules
from queuebox_api.config.database import DatabaseConfig
from queuebox_api.config.destinations import Destination
from queuebox_api.config.fields import Name
from queuebox_api.config.http import HttpConfig
from queuebox_api.config.inbox import InboxConfig
from queuebox_api.config.kinds import listed
from queuebox_api.config.outbox import OutboxConfig
from queuebox_api.config.retention import RetentionConfig
from queuebox_api.config.routes import Route
from queuebox_api.config.server import ServerConfig
from queuebox_api.config.sources import Source
from queuebox_api.config.urls import host_count

CAPTURED_DATABASE = {"postgres-logical": "postgresql", "sqlserver-cdc": "sqlserver"}


def _routes_lead_somewhere(config: "Config") -> Iterator[Finding]:
    known = f"there is {listed(config.destinations, 'and')}" if config.destinations else "there is none"
    for index, route in enumerate(config.routes):
        name = getattr(route, "destination", None)  # of a route that is not whole, what can be read
        if name is not None and name not in config.destinations:
            yield Finding(("routes", index, "destination"), f"must name a destination; {known}")


def _capture_fits_database(config: "Config") -> Iterator[Finding]:
    mode = config.outbox.capture.mode
    if CAPTURED_DATABASE.get(mode, config.database.type) != config.database.type:
        text = f"{mode} needs database.type {CAPTURED_DATABASE[mode]}"
        yield Finding(("outbox", "capture", "mode"), text)


def _capture_knows_its_host(config: "Config") -> Iterator[Finding]:
    capture = config.outbox.capture
    if capture.enabled and not capture.connection.hostname and host_count(config.database.url.get_secret_value()) > 1:
        path = ("outbox", "capture", "connection", "hostname")
        yield Finding(path, "is required, because database.url names more than one host")


class Config(Block):
    """The configuration of one agent: every section of queuebox.yml."""

    rules: ClassVar[Rules] = (
        Check(_routes_lead_somewhere),
        Check(_capture_fits_database),
        Check(_capture_knows_its_host),
    )
    server: ServerConfig = ServerConfig()
    """The ports."""
    database: DatabaseConfig
    """The database."""
    outbox: OutboxConfig = OutboxConfig()
    """The outbox."""
    inbox: InboxConfig = InboxConfig()
    """The inbox."""
    http: HttpConfig = HttpConfig()
    """What holds for every HTTP destination."""
    admin: AdminConfig = AdminConfig()
    """The admin routes."""
    destinations: Annotated[dict[Name, Destination], Field(max_length=1000)] = Field(default_factory=dict)
    """Where messages go, by name."""
    routes: Annotated[tuple[Route, ...], Field(max_length=10_000)] = ()
    """Which topic goes to which destination. The first match wins, in list order."""
    sources: Annotated[dict[Name, Source], Field(max_length=1000)] = Field(default_factory=dict)
    """Where messages come from, by name."""
    retention: RetentionConfig = RetentionConfig()
    """The cleanup of old rows."""
