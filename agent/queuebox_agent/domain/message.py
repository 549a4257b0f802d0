from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID


class Claim(NamedTuple):
    """The right to finish one row: every terminal write names both (spec page 03, the claim fence)."""

    id: UUID
    token: UUID


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One claimed row of the outbox (spec page 30)."""

    claim: Claim
    topic: str
    key: str | None
    """The unit of order; None for a null or an empty key."""
    aggregate_type: str | None
    payload: str
    """JSON text exactly as the database prints it; nothing parses it unless a template or a transform reads it."""
    headers: str
    """JSON text of the row's headers, as the database prints it."""
    attempt: int
    """Failed deliveries so far."""
    max_attempts: int
    sequence: int
    """Order within a key."""
    lease_ends: float
    """time.monotonic() at which the lease may be over, measured from before the claim was sent."""
