"""The demo: an embedded PostgreSQL, an agent of its own process, and a receiver with faults (see README)."""

import asyncio
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import psycopg

from queuebox_agent.demo.orders import Counts, Orders, count
from queuebox_agent.demo.postgres import LocalPostgres, free_port
from queuebox_agent.demo.process import agent_process
from queuebox_agent.demo.receiver import Receiver
from queuebox_agent.demo.screen import Frame, Screen, screen
from queuebox_agent.errors import QueueBoxError

DRAIN_SECONDS = 30.0
LOOK_SECONDS = 0.25


class Demo:
    """`seconds`: how long orders are written; the drain and the start come on top."""

    def __init__(self, seconds: float = 14.0, keys: int = 200, per_second: int = 400, seed: int | None = None) -> None:
        self._seconds, self._keys, self._per_second = seconds, keys, per_second
        self._chance = random.Random(seed)  # noqa: S311  only the demo's luck hangs on it
        self._port = free_port()
        self._receiver = Receiver(self._port, self._chance)

    async def run(self) -> bool:
        """Show it; True when all rows arrived, each order in order. Raises Misconfigured without PostgreSQL."""
        stop_on_sigterm()
        folder = Path(tempfile.mkdtemp(prefix="queuebox-demo-"))
        try:
            return await self._run(LocalPostgres(folder), folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _run(self, server: LocalPostgres, folder: Path) -> bool:
        print("starting PostgreSQL, the receiver and the agent ...", flush=True)
        try:
            await asyncio.to_thread(server.initialize)
            await asyncio.to_thread(server.start)
            await self._receiver.start()
            async with (
                agent_process(server.url, f"http://127.0.0.1:{self._port}", folder),
                await psycopg.AsyncConnection.connect(server.url, autocommit=True) as app,
            ):
                return await self._show(app, server.url)
        finally:
            await self._receiver.stop()
            await asyncio.to_thread(_give_back, server)

    async def _show(self, app: psycopg.AsyncConnection, url: str) -> bool:
        orders = Orders(app, self._keys, self._chance)
        await orders.prepare()
        with screen() as shown:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as witness:
                writing = asyncio.create_task(orders.write(self._seconds, self._per_second))
                last = await self._watch(orders, writing, witness, shown)
                await writing
        return self._summary(orders, last)

    async def _watch(
        self, orders: Orders, writing: asyncio.Task[None], witness: psycopg.AsyncConnection, shown: Screen
    ) -> Counts:
        clock = asyncio.get_running_loop().time
        began, arrived, arrived_at, arrivals = clock(), 0, clock(), self._receiver.arrivals
        while True:
            outbox = await count(witness)
            now, so_far = clock(), len(arrivals.seen)
            speed, arrived, arrived_at = (so_far - arrived) / max(now - arrived_at, 0.001), so_far, now
            shown.show(
                Frame(
                    now - began,
                    self._seconds + 2,
                    orders.written,
                    so_far,
                    speed,
                    arrivals.refused,
                    arrivals.duplicates,
                    arrivals.violations,
                    outbox,
                )
            )
            drained = writing.done() and outbox.sent + outbox.dead == orders.written
            if drained or now - began > self._seconds + DRAIN_SECONDS:
                return outbox
            await asyncio.sleep(LOOK_SECONDS)

    def _summary(self, orders: Orders, outbox: Counts) -> bool:
        arrivals = self._receiver.arrivals
        missing = orders.written - len(arrivals.seen)
        print(f"\n{orders.written:,} rows written for {len(orders.steps)} orders")
        print(f"{len(arrivals.seen):,} arrived, {missing} missing, {outbox.dead} dead")
        print(f"{arrivals.violations} order violations")
        print(f"{outbox.retried:,} needed more than one try; {arrivals.duplicates} came twice")
        good = missing == 0 and arrivals.violations == 0 and dict(arrivals.steps) == dict(orders.steps)
        print("every row arrived, and each order in order" if good else "the demo FAILED: see the lines above")
        return good


def stop_on_sigterm() -> None:
    """End as with Ctrl-C, so that what was started is ended too."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _give_back(server: LocalPostgres) -> None:
    try:
        server.stop("immediate")
    except QueueBoxError as error:
        print(f"PostgreSQL did not stop cleanly: {error}", file=sys.stderr)
