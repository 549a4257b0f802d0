"""One of several processes that claim, deliver into a log, fail, stall past their lease and die with what they hold.

    python -m services.claim_worker URL NUMBER [PART...]      runs until its standard input ends

PART takes a part out of the claim, so that a test can see what that part is there for.
"""

import asyncio
import random
import sys
import time
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from uuid import UUID

import psycopg

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry, Settlement
from queuebox_agent.store.postgres import runs, session
from queuebox_agent.store.postgres.names import OutboxNames, statement
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from queuebox_agent.store.postgres.session import Record, Session
from services.outbox_table import DEFAULT_NAMES
from services.stores import open_pool
from services.waiting import until

LEASE = 3.0
RECLAIM_EVERY = 0.5
CHANCE = random.Random()  # noqa: S311  a test's mischief is no secret
PARTS = {
    "lock": ("pg_try_advisory_xact_lock((SELECT %(table)s::regclass::oid::int), hashtext(k.key) & 1023)", "true"),
    "busy": ("= 'processing' AND b.", "= 'processing' AND false AND b."),
    "head": ('AND o."sequence" >= k.floor\n', 'AND o."sequence" >= k.floor AND o."scheduled_at" <= now()\n'),
    "token": ("lpad(to_hex(pg_current_xact_id()::text::bigint), 12, '0')", "left(md5(random()::text), 12)"),
}
LOG = """INSERT INTO log (kind, id, key, token, fate)
SELECT %s, * FROM unnest(%s::uuid[], %s::text[], %s::uuid[], %s::text[])"""
TELL = "INSERT INTO outcome SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::text[])"


async def moment(longest: float) -> None:
    """A pause of random length, as a network makes them."""
    end = time.monotonic() + CHANCE.random() * longest
    await until(lambda: time.monotonic() >= end)


class Worker:
    """The rows of a key are delivered one after another, different keys side by side."""

    def __init__(self, store: PostgresOutbox, log: psycopg.AsyncConnection) -> None:
        self._store = store
        self._log = log
        self._stalled: set[asyncio.Task[None]] = set()

    async def work(self, stop: asyncio.Event) -> None:
        reclaim_at = 0.0
        while not stop.is_set() or self._stalled:
            if time.monotonic() >= reclaim_at:
                await self._store.reclaim()
                reclaim_at = time.monotonic() + RECLAIM_EVERY
            rows = await self._store.claim(CHANCE.choice((1, 7, 40, 100)))
            await (self._deliver(rows) if rows else moment(0.1))
            for task in [task for task in self._stalled if task.done()]:
                self._stalled.remove(task)
                task.result()

    async def _deliver(self, rows: Sequence[OutboxRow]) -> None:
        waiting: dict[str | UUID, deque[OutboxRow]] = defaultdict(deque)
        for row in rows:
            waiting[row.key or row.claim.id].append(row)
        while waiting:
            heads = [run[0] for run in waiting.values()]
            fates = {row.claim.id: fate_of(row) for row in heads}
            await self._write("start", heads, fates)
            died = CHANCE.random() < 0.004
            await self._write("end", [row for row in heads if died or fates[row.claim.id] != "stall"], fates)
            if died:
                return  # what it holds waits for its lease to end
            won = await self._settle(heads, fates)
            await self._go_on(waiting, fates, won)

    async def _go_on(
        self, waiting: dict[str | UUID, deque[OutboxRow]], fates: Mapping[UUID, str], won: frozenset[UUID]
    ) -> None:
        """Drop what is over, hand back what stands behind a failure, and now and then renew the rest."""
        back: list[OutboxRow] = []
        for name, run in list(waiting.items()):
            head = run.popleft()
            failed = fates[head.claim.id] == "retry"
            back += run if failed else []
            if failed or not run or head.claim.id not in won:
                del waiting[name]
        await self._store.settle([Settlement(row.claim, Released()) for row in back])
        if CHANCE.random() < 0.3:
            kept = await self._store.renew([row.claim for run in waiting.values() for row in run])
            for name, run in list(waiting.items()):
                if any(row.claim.id not in kept for row in run):
                    del waiting[name]

    async def _settle(self, rows: Sequence[OutboxRow], fates: Mapping[UUID, str]) -> frozenset[UUID]:
        stalled = [row for row in rows if fates[row.claim.id] == "stall"]
        if stalled:
            self._stalled.add(asyncio.create_task(self._stall(stalled)))
        outcomes: dict[str, Outcome] = {
            "sent": Delivered(),
            "dead": Dead("gave up"),
            "retry": Retry(CHANCE.random() / 10, "no luck"),
        }
        settled = [row for row in rows if row not in stalled]
        won = await self._store.settle([Settlement(row.claim, outcomes[fates[row.claim.id]]) for row in settled])
        told = [fates[row.claim.id] if row.claim.id in won else "lost" for row in settled]
        await self._log.execute(TELL, [[row.claim.id for row in settled], [row.claim.token for row in settled], told])
        return won

    async def _stall(self, rows: Sequence[OutboxRow]) -> None:
        end = time.monotonic() + LEASE * 1.5
        await until(lambda: time.monotonic() >= end)
        await self._write("end", rows, {row.claim.id: "stall" for row in rows})
        won = await self._store.settle([Settlement(row.claim, Delivered()) for row in rows])
        assert not won, "a delivery was completed after its lease"

    async def _write(self, kind: str, rows: Sequence[OutboxRow], fates: Mapping[UUID, str]) -> None:
        ids, keys = [row.claim.id for row in rows], [row.key for row in rows]
        tokens = [row.claim.token for row in rows]
        await self._log.execute(LOG, [kind, ids, keys, tokens, [fates[row.claim.id] for row in rows]])


def fate_of(row: OutboxRow) -> str:
    chance = CHANCE.random()
    if chance < 0.003:
        return "stall"
    if chance < 0.02 or (chance < 0.12 and row.attempt >= row.max_attempts):
        return "dead"
    return "retry" if chance < 0.12 else "sent"


def take_out(parts: Sequence[str]) -> None:
    """Change the statements before they are sent."""

    def changed(name: str, names: OutboxNames) -> bytes:
        text = statement(name, names).decode()
        for part in parts:
            text = text.replace(*PARTS[part])
        return text.encode()

    vars(session)["statement"] = changed


def commit_slowly() -> None:
    """Now and then others look at the keys of a claim that is not committed yet."""
    fetch = Session.fetch

    async def slow(self: Session, name: str, **values: object) -> list[Record]:
        rows = await fetch(self, name, **values)
        if name in {"outbox_take", "outbox_lock_keys"} and CHANCE.random() < 0.2:
            await moment(0.02)
        return rows

    Session.fetch = slow  # type: ignore[method-assign]


def look_behind_only(store: PostgresOutbox) -> None:
    """Look for the first row of a key only behind the last one that was taken, as under an old snapshot."""
    runs.HOT = 1
    store._keyed._runs._thorough.spent(1e9)


async def main(url: str, number: int, parts: Sequence[str]) -> None:
    take_out(parts)
    commit_slowly()
    stop = asyncio.Event()
    watching = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    watching.add_done_callback(lambda _: stop.set())
    async with open_pool(url) as pool, await psycopg.AsyncConnection.connect(url, autocommit=True) as log:
        store = PostgresOutbox(pool, DEFAULT_NAMES, LEASE, longest_run=(1, 3, 10, 50)[number % 4])
        if number % 2:
            look_behind_only(store)
        await Worker(store, log).work(stop)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
