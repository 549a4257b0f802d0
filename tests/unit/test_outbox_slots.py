"""What becomes of rows whose lease ends before their publish; the table and the receiver are in memory."""

import asyncio
import threading
import time
from collections.abc import Collection, Sequence
from uuid import UUID

from queuebox_agent.domain.message import Claim, OutboxRow
from queuebox_agent.domain.outcome import Delivered, Outcome, Released, Settlement
from queuebox_agent.domain.pattern import TopicPattern
from queuebox_agent.domain.router import Route, Router
from queuebox_agent.loops.held import HeldRow, HeldRows
from queuebox_agent.loops.outbox import OutboxLoop
from queuebox_agent.loops.release import Release
from queuebox_agent.loops.settler import Settler
from queuebox_agent.ports import Backlog, Delivery
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import OutboxConfig
from services.rows import row
from services.waiting import until

LEASE = 0.05


class Table:
    """Gives its rows to the first claim, and takes every outcome."""

    def __init__(self, *rows: OutboxRow) -> None:
        self.rows: tuple[OutboxRow, ...] = rows
        self.settled: list[Settlement] = []

    def outcome(self, of: OutboxRow) -> Outcome | None:
        return next((it.outcome for it in self.settled if it.claim == of.claim), None)

    async def claim(self, limit: int, skip_topics: Collection[str] = ()) -> Sequence[OutboxRow]:
        rows, self.rows = self.rows, ()
        return rows

    async def settle(self, settlements: Sequence[Settlement], *, again: bool = False) -> frozenset[UUID]:
        self.settled += settlements
        return frozenset(it.claim.id for it in settlements)

    async def renew(self, claims: Sequence[Claim]) -> frozenset[UUID]:
        return frozenset(claim.id for claim in claims)

    async def reclaim(self) -> int:
        return 0

    async def backlog(self) -> Backlog:
        return Backlog(0, 0.0)

    async def ping(self) -> None:
        pass


class BusyReceiver:
    """Its first message keeps the whole process busy for longer than a lease."""

    kind = "http"

    def __init__(self) -> None:
        self.taken: list[Delivery] = []

    async def start(self) -> None:
        pass

    async def publish(self, delivery: Delivery) -> None:
        self.taken.append(delivery)
        threading.Event().wait(2 * LEASE)  # holds up the whole process

    async def close(self) -> None:
        pass


async def test_a_row_whose_lease_ended_before_its_publish_began_is_not_published() -> None:
    first, second = (row(lease_ends=time.monotonic() + LEASE) for _ in range(2))
    table, receiver = Table(first, second), BusyReceiver()
    router = Router([Route(TopicPattern("**"), "receiver")], frozenset({"receiver"}))
    loop = OutboxLoop(table, router, {"receiver": receiver}, Metrics("1.2.3"), OutboxConfig())
    running = asyncio.create_task(loop.run())
    await until(lambda: len(table.settled) == 2)
    loop.stop()
    await running
    assert [it.row for it in receiver.taken] == [first]
    assert (table.outcome(first), table.outcome(second)) == (Delivered(), Released())


async def test_a_row_that_is_handed_back_twice_is_written_once() -> None:
    table, waiting = Table(), row()
    held, settler = HeldRows(table, 60, _no_loss), Settler(table)
    held.add(waiting)
    release = Release(held, settler)
    release.begin([waiting])
    release.begin([waiting])
    writing = asyncio.create_task(settler.run())
    await settler.finished()
    writing.cancel()
    await asyncio.wait({writing})
    assert table.settled == [Settlement(waiting.claim, Released())]


def _no_loss(_: list[HeldRow]) -> None:
    raise AssertionError("no lease ends here")
