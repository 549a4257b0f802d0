"""Outbox rows for tests that need no database."""

import uuid
from dataclasses import replace

from queuebox_agent.domain.message import Claim, OutboxRow

ROW = OutboxRow(
    claim=Claim(uuid.UUID(int=1), uuid.UUID(int=2)),
    topic="order.created",
    key=None,
    aggregate_type=None,
    payload='{"orderId": 1}',
    headers="{}",
    attempt=0,
    max_attempts=5,
    sequence=1,
    lease_ends=float("inf"),
)


def row(**changes: object) -> OutboxRow:
    """A row with an id of its own."""
    claim = Claim(uuid.uuid4(), uuid.UUID(int=2))
    return replace(ROW, **({"claim": claim} | changes))  # type: ignore[arg-type]  # a test names real fields
