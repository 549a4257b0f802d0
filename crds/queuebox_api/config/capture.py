"""The section `outbox.capture` (spec page 24)."""

from typing import ClassVar, Literal

from pydantic import Field

from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.fields import CaptureName, Flag, Identifier, Millis, Name, Port, Words
from queuebox_api.config.secret import Secret


class CaptureConnection(Block):
    """Values of the capture connection that differ from those of `database`."""

    hostname: Name | None = None
    """The host. Default: the one of `database.url`; required when that names several."""
    port: Port | None = None
    """The port. Default: the one of `database.url`."""
    database: Name | None = None
    """The name of the database. Default: the one of `database.url`."""
    username: Name | None = None
    """The account that captures. Default: `database.username`."""
    password: Secret | None = None
    """The password of that account. Default: `database.password`."""
    encrypt: Flag = True
    """SQL Server only: encrypt the capture connection."""
    trust_server_certificate: Flag = False
    """SQL Server only: take the certificate of the server without a check."""


class CaptureConfig(Block):
    """Change data capture: an insert wakes the poller, which still claims and publishes through SQL."""

    rules: ClassVar[Rules] = (
        Rule(
            "!self.enabled || self.mode != 'polling'",
            "must be postgres-logical or sqlserver-cdc when enabled is true",
            lambda it: not it.enabled or it.mode != "polling",
            at=("mode",),
        ),
        Rule(
            r"!self.enabled || self.stateDirectory.matches('\\S')",
            "is required when enabled is true",
            lambda it: not it.enabled or bool(it.state_directory.strip()),
            at=("stateDirectory",),
        ),
    )
    mode: Literal["polling", "postgres-logical", "sqlserver-cdc"] = "polling"
    """How the poller learns of an insert. `postgres-logical` needs PostgreSQL, `sqlserver-cdc` needs SQL Server."""
    enabled: Flag = False
    """`true` on the one replica that owns capture. It needs a `mode` other than `polling`."""
    identity: CaptureName = "queuebox"
    """The name of the capture owner."""
    state_directory: Words = ""
    """A directory that keeps the capture offsets. Required when `enabled` is `true`."""
    schema_name: Identifier | None = Field(default=None, alias="schema")
    """The schema of the outbox table. Default: `public` on PostgreSQL, `dbo` on SQL Server."""
    publication: CaptureName = "queuebox_outbox"
    """PostgreSQL only: the publication of the outbox table. QueueBox never creates it."""
    slot: CaptureName = "queuebox_outbox"
    """PostgreSQL only: the replication slot. The first start creates it."""
    reconciliation_interval_ms: Millis = 1000
    """The longest wait of the poller when no event arrives."""
    connection: CaptureConnection = CaptureConnection()
    """What differs on the capture connection."""
