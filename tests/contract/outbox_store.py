"""What every `OutboxStore` is tested with: two stores on one table, and the table as others see it.

The rules stand beside this file in `outbox_claim`, `_keys`, `_skip`, `_settle`, `_fence`, `_lease`: classes of tests.
The test file of an implementation inherits them and fills in the fixture `bench`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Delivered, Outcome, Released, Settlement
from queuebox_agent.ports import OutboxStore
from services.waiting import until

LEASE = 60.0


@dataclass(frozen=True, slots=True)
class Stored:
    """One row as the database has it. Times are seconds from the database clock; negative ones have passed."""

    state: str
    attempt: int
    claim_token: UUID | None
    claimed: float | None
    lease_ends: float | None
    due: float
    updated: float
    last_error: str | None
    payload: str
    headers: str


class OutboxTable(Protocol):
    """The table, beside the store."""

    def insert(self, **values: object) -> UUID:
        """Write a row and return its id. Columns under their default names; `due` and `lease_ends` as in `Stored`."""
        ...

    def change(self, row: UUID, **values: object) -> None:
        """Set columns of a row."""
        ...

    def read(self, row: UUID) -> Stored:
        """The row as it is now."""
        ...

    def fill(self, rows: int, **values: object) -> None:
        """Write many equal rows at once."""
        ...

    def delete(self, row: UUID) -> None:
        """Remove a row."""
        ...

    def requeue(self, row: UUID) -> None:
        """Bring a dead or sent row back with the statement of spec page 19."""
        ...

    def open(self) -> AbstractContextManager["OutboxTable"]:
        """The table inside a transaction of its own, which commits at the end of the context."""
        ...


@dataclass(frozen=True, slots=True)
class Bench:
    """Two processes on one table. `lease`: seconds that a claim of both holds."""

    table: OutboxTable
    store: OutboxStore
    other: OutboxStore
    lease: float = LEASE


async def claimed_ids(store: OutboxStore, limit: int = 100, skip: Sequence[str] = ()) -> list[UUID]:
    """The ids of a claim, in its order."""
    return [row.claim.id for row in await store.claim(limit, skip)]


async def claimed_soon(store: OutboxStore, limit: int = 100) -> list[UUID]:
    """The ids of the first claim that finds something. A search may leave out what came back behind it, for a while."""
    found: list[UUID] = []

    async def finds() -> bool:
        found.extend(await claimed_ids(store, limit))
        return bool(found)

    await until(finds, 5, "a claim finds something")
    return found


async def claim_one(store: OutboxStore) -> OutboxRow:
    """The only row that a claim returns."""
    (row,) = await store.claim(10)
    return row


async def settle(store: OutboxStore, outcome: Outcome, *rows: OutboxRow) -> frozenset[UUID]:
    """Write one outcome for several rows."""
    return await store.settle([Settlement(row.claim, outcome) for row in rows])


async def deliver(store: OutboxStore, *rows: OutboxRow) -> None:
    """Settle rows as delivered; all of them must win."""
    assert await settle(store, Delivered(), *rows) == {row.claim.id for row in rows}


async def release(store: OutboxStore, *rows: OutboxRow) -> None:
    """Hand rows back; all of them must win."""
    assert await settle(store, Released(), *rows) == {row.claim.id for row in rows}
