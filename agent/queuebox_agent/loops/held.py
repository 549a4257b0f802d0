import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from uuid import UUID

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.loops.forever import forever
from queuebox_agent.loops.halves import in_halves
from queuebox_agent.ports import OutboxStore

LARGEST_BATCH = 1_000
LONGEST_PAUSE = 1.0
"""Seconds between two tries of a renewal that failed, and between two looks for leases that are over."""


class HeldRow:
    """A row that this process has claimed and not yet finished."""

    __slots__ = ("delivery", "lease_ends", "message", "settling")

    def __init__(self, message: OutboxRow) -> None:
        self.message = message
        self.lease_ends = message.lease_ends
        self.delivery: asyncio.Task[None] | None = None
        self.settling = False

    def cancel_publish(self) -> None:
        """Cancel the publish of the row, if it is still under way."""
        if self.delivery is not None:
            self.delivery.cancel()


class HeldRows:
    """Every claimed row in memory, waiting or in flight, and the renewal of their leases (spec page 03).

    Renewal runs each third of the lease. A row that the database does not renew, or whose lease may be over because the
    database did not answer in time, is lost: `on_lost` gets it. A row whose outcome is being written is not: that write
    decides for itself.
    """

    def __init__(self, store: OutboxStore, lease: float, on_lost: Callable[[list[HeldRow]], None]) -> None:
        self._store = store
        self._lease = lease
        self._on_lost = on_lost
        self._rows: dict[UUID, HeldRow] = {}

    def __iter__(self) -> Iterator[HeldRow]:
        return iter(list(self._rows.values()))

    def add(self, message: OutboxRow) -> None:
        """Hold a claimed row."""
        self._rows[message.claim.id] = HeldRow(message)

    def of(self, message: OutboxRow) -> HeldRow | None:
        """What is held of this very claim."""
        row = self._rows.get(message.claim.id)
        return row if row is not None and row.message.claim == message.claim else None

    def remove(self, messages: Iterable[OutboxRow]) -> None:
        """Let go of rows that are finished or lost."""
        for message in messages:
            if self.of(message) is not None:
                del self._rows[message.claim.id]

    async def renew(self) -> None:
        """Renew for ever; the owner cancels it."""
        await asyncio.sleep(self._lease / 3)
        await forever("leases could not be renewed", self._renew_all, min(LONGEST_PAUSE, self._lease / 10))

    async def expire(self) -> None:
        """Lose for ever what may be over, whether or not a renewal hangs; the owner cancels it."""
        while True:
            await asyncio.sleep(min(LONGEST_PAUSE, self._lease / 10))
            self._lose([row for row in self if row.lease_ends <= time.monotonic()])

    async def _renew_all(self) -> float:
        rows = list(self)
        for start in range(0, len(rows), LARGEST_BATCH):
            asked = time.monotonic()
            async for part, kept in in_halves(rows[start : start + LARGEST_BATCH], self._renew):
                if not isinstance(kept, Exception):
                    self._renewed(part, kept, asked + self._lease)
        return self._lease / 3

    async def _renew(self, part: Sequence[HeldRow]) -> frozenset[UUID]:
        return await self._store.renew([row.message.claim for row in part])

    def _renewed(self, part: Sequence[HeldRow], kept: frozenset[UUID], lease_ends: float) -> None:
        for row in part:
            if row.message.claim.id in kept:
                row.lease_ends = lease_ends
        self._lose([row for row in part if row.message.claim.id not in kept])

    def _lose(self, rows: list[HeldRow]) -> None:
        lost = [row for row in rows if not row.settling and self.of(row.message) is row]
        if lost:
            self.remove(row.message for row in lost)
            self._on_lost(lost)
