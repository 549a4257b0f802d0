"""The section `database.columnMapping`: what the columns of the two tables are called (spec pages 16 and 24)."""

from typing import Any

from typing_extensions import override

from queuebox_api.config.block import Block, Rule, member
from queuebox_api.config.fields import Identifier


def _all_differ(*aliases: str) -> Rule:
    columns = f"[{', '.join(member(alias) for alias in aliases)}]"
    return Rule(
        f"{columns}.all(name, {columns}.filter(other, other == name).size() == 1)",
        "two keys name the same column",
        lambda it: len({getattr(it, name) for name in type(it).model_fields}) == len(aliases),
    )


class _Columns(Block):
    @classmethod
    @override
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.rules = (_all_differ(*(str(field.alias) for field in cls.model_fields.values())),)


class OutboxColumns(_Columns):
    """The column names of the outbox table. A key that is left out keeps its default."""

    id: Identifier = "id"
    """The identity of a row."""
    topic: Identifier = "topic"
    """What the routes match."""
    key: Identifier = "key"
    """The ordering key."""
    aggregate_type: Identifier = "aggregate_type"
    """The type of the aggregate that the event belongs to."""
    payload: Identifier = "payload"
    """The message."""
    headers: Identifier = "headers"
    """The headers of the message."""
    state: Identifier = "state"
    """Where the row stands."""
    attempt: Identifier = "attempt"
    """The failed deliveries so far."""
    max_attempts: Identifier = "max_attempts"
    """The dead-letter ceiling of the row."""
    scheduled_at: Identifier = "scheduled_at"
    """The earliest time of the next delivery."""
    created_at: Identifier = "created_at"
    """When the row was inserted."""
    updated_at: Identifier = "updated_at"
    """When QueueBox last wrote the row."""
    claimed_at: Identifier = "claimed_at"
    """When the row was claimed."""
    claim_token: Identifier = "claim_token"  # noqa: S105  the name of a column
    """Who holds the claim."""
    lease_expires_at: Identifier = "lease_expires_at"
    """When the claim ends."""
    last_error: Identifier = "last_error"
    """Why the last delivery failed."""
    sequence: Identifier = "sequence"
    """The order of insertion, which orders the rows of one key."""


class InboxColumns(_Columns):
    """The column names of the inbox table. A key that is left out keeps its default."""

    id: Identifier = "id"
    """The identity of a row."""
    source: Identifier = "source"
    """The source that received the message."""
    idempotency_key: Identifier = "idempotency_key"
    """What makes a message the same message. Unique per source."""
    aggregate_id: Identifier = "aggregate_id"
    """The aggregate that the message belongs to."""
    event_type: Identifier = "event_type"
    """The type of the event."""
    payload: Identifier = "payload"
    """The message."""
    state: Identifier = "state"
    """Where the row stands."""
    created_at: Identifier = "created_at"
    """When the message was stored."""
    processed_at: Identifier = "processed_at"
    """When the row was done."""
    claimed_at: Identifier = "claimed_at"
    """When the row was claimed."""
    claim_token: Identifier = "claim_token"  # noqa: S105  the name of a column
    """Who holds the claim."""
    lease_expires_at: Identifier = "lease_expires_at"
    """When the claim ends."""
    correlation_id: Identifier = "correlation_id"
    """The correlation id of the receipt."""
    consumption: Identifier = "consumption"
    """Who takes the row: `push` or `pull`."""
    scheduled_at: Identifier = "scheduled_at"
    """The earliest time of the next claim."""
    attempt: Identifier = "attempt"
    """The failed tries so far."""
    last_error: Identifier = "last_error"
    """Why the last try failed."""
    headers: Identifier = "headers"
    """The received headers."""


class ColumnMapping(Block):
    """Column names of your own."""

    outbox: OutboxColumns = OutboxColumns()
    """The columns of the outbox table."""
    inbox: InboxColumns = InboxColumns()
    """The columns of the inbox table."""
