"""What the loops need of the world. Each port has a contract suite in tests/contract for all implementations."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from queuebox_agent.domain.message import Claim, OutboxRow
from queuebox_agent.domain.outcome import Settlement


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in a table. `oldest_age`: seconds since the oldest pending row was created, 0.0 when none waits."""

    pending: int
    oldest_age: float


class OutboxStore(Protocol):
    """The outbox table.

    Every method raises `Unavailable` when the database cannot be reached; then nothing is known of what it wrote, and
    the fence sorts it out. It raises another family when the statement itself was refused, because of a lock, of what a
    row holds, or of the schema; then nothing was written.
    """

    async def claim(self, limit: int, skip_topics: Collection[str] = ()) -> Sequence[OutboxRow]:
        """Take at most `limit` due rows for this process under a lease (spec page 03, edge-cases 3.1).

        Rows of one key come as one run: consecutive by sequence, under one token, first of the key first. A key with
        any row in flight elsewhere is left alone. Rows whose topic is in `skip_topics` are left where they are, and so
        is what stands behind them in their key.
        """
        ...

    async def settle(self, settlements: Sequence[Settlement], *, again: bool = False) -> frozenset[UUID]:
        """Write outcomes, each fenced by id, state, token and a lease later than the database clock.

        Returns the ids whose write won; the others were lost and are left alone. `again`: an earlier try may have been
        committed although its answer was lost, so a row that is `sent` or `dead` under its token by now counts as won.
        """
        ...

    async def renew(self, claims: Sequence[Claim]) -> frozenset[UUID]:
        """Extend leases, fenced in the same way. Returns the ids that are still held."""
        ...

    async def reclaim(self) -> int:
        """Return rows with an expired or missing lease to `pending`, attempt unchanged. Returns how many."""
        ...

    async def backlog(self) -> Backlog:
        """Count what waits. Bounded: never slower than a few milliseconds on a table of any size is not promised, so
        callers ask at most once per gauge interval.
        """
        ...

    async def ping(self) -> None:
        """Return when the database answers."""
        ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message on its way to a destination."""

    row: OutboxRow
    body: str
    """JSON text: the payload, or what transforms made of it."""
    routing_key: str | None = None
    """What the route's template rendered; HTTP and NATS do not use it."""


class Publisher(Protocol):
    """One destination. Returns None when the destination took the message; raises `Retryable`, `Rejected` or
    `Unavailable` when it did not. Cancellation passes through untouched.
    """

    @property
    def kind(self) -> str:
        """The destination type: http, rabbitmq, kafka or nats."""
        ...

    async def start(self) -> None:
        """Open what can be opened now. A peer that is away is no error."""
        ...

    async def publish(self, delivery: Delivery) -> None:
        """Deliver one message."""
        ...

    async def close(self) -> None:
        """Give everything back; never raises."""
        ...
