"""The outbox loop. The path of a row: claim -> route -> publish -> settle (spec pages 03, 05 and 06, edge-cases 5.2).

The claimer keeps rows in memory, about `batchSize`, while at most `concurrency` publishes run, so that a free slot
never waits for the database. Rows of one key are published one after another, each when the one before it is settled.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Retry
from queuebox_agent.domain.retry import after_failure
from queuebox_agent.domain.router import Router
from queuebox_agent.errors import Rejected, Retryable, Unavailable
from queuebox_agent.loops.account import Account
from queuebox_agent.loops.fault import tell
from queuebox_agent.loops.gauges import Gauges
from queuebox_agent.loops.held import HeldRow, HeldRows
from queuebox_agent.loops.lanes import Lanes, Run, runs_of
from queuebox_agent.loops.release import Release
from queuebox_agent.loops.settler import Settler
from queuebox_agent.loops.wake import Wake
from queuebox_agent.ports import Delivery, OutboxStore, Publisher
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import OutboxConfig

LONGEST_PAUSE = 2.0
"""Seconds between two looks for a database that is away."""
HAND_BACK_SECONDS = 5.0
"""The bound of handing rows back at a stop; what it does not reach comes back when the lease ends."""
LONGEST_CLAIM, LONGEST_CANCEL = 2.0, 1.0
"""Seconds that a stop waits for a claim under way, and for what it cancelled."""

log = logging.getLogger(__name__)


class OutboxLoop:
    """Delivers outbox rows until it is stopped. `healthy` is the component `outbox-poller` of the readiness page."""

    def __init__(
        self,
        store: OutboxStore,
        router: Router,
        publishers: Mapping[str, Publisher],
        metrics: Metrics,
        config: OutboxConfig,
    ) -> None:
        self._store, self._router, self._publishers = store, router, publishers
        self._metrics, self._config = metrics, config
        self._poll = config.poll_interval_ms / 1000
        self._lanes = Lanes(router.destinations & publishers.keys(), config.concurrency, config.batch_size)
        self._held = HeldRows(store, config.claim_timeout_ms / 1000, self._lost)
        self._settler = Settler(store)
        self._release = Release(self._held, self._settler)
        self._gauges = Gauges(store, metrics, config.pending_gauge_interval_ms / 1000)
        self._account = Account(metrics)
        self._wake = Wake()
        self._deliveries: set[asyncio.Task[None]] = set()
        self._reclaim_at = self._look_past_full_at = 0.0
        self._pause = self._poll
        self._waits_for_room = self._found_rows = False
        self._stop_asked = asyncio.Event()
        self.healthy = False

    async def run(self) -> None:
        """Claim and deliver until `stop`. Cancelling it leaves the claimed rows to their leases."""
        working = [asyncio.create_task(work) for work in self._work()]
        claiming = asyncio.create_task(self._claim_until_stopped())
        stop_asked = asyncio.create_task(self._stop_asked.wait())
        self.healthy = True
        try:
            works = {stop_asked, claiming, *working}
            # Before a stop, only a fault of ours ends one of them: it takes the agent down.
            for ended in (await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED))[0]:
                ended.result()
            # What a claim that hangs has taken meanwhile comes back when its lease ends.
            await asyncio.wait({claiming}, timeout=LONGEST_CLAIM)
            await self._wind_down()
        finally:
            self.healthy = False
            await _ended([claiming, stop_asked, *working, *self._deliveries])

    def stop(self) -> None:
        """Ask `run` to hand back what was not begun, to wait for what is in flight, and to return."""
        self._stop_asked.set()
        self._wake.give()

    @property
    def _stopping(self) -> bool:
        return self._stop_asked.is_set()

    def _work(self) -> list[Coroutine[None, None, None]]:
        """What goes on beside the claims."""
        settler, held = self._settler, self._held
        return [settler.run(), settler.run_again(), held.renew(), held.expire(), self._gauges.run()]

    # claim

    async def _claim_until_stopped(self) -> None:
        while not self._stopping:
            if not await self._claimed_more():
                await self._wake.wait(self._pause)

    async def _claimed_more(self) -> bool:
        """One pass. True when another pass should follow at once: something was claimed and room is left."""
        try:
            await self._reclaim_if_due()
            rows = await self._claim()
            self._pause = self._poll
        except Exception as error:  # noqa: BLE001  whatever a pass meets, the next one must come
            self._pause = min(max(self._pause, 0.05) * 2, max(LONGEST_PAUSE, self._poll))
            tell(log, "the outbox cannot be claimed from", error)
            return False
        self._accept(rows)
        return bool(rows)

    async def _claim(self) -> Sequence[OutboxRow]:
        room = self._lanes.room
        self._waits_for_room = not room or self._settler.failed > self._config.batch_size
        if self._waits_for_room:
            return ()
        full, began = self._lanes.full_topics(), time.monotonic()
        if full and began < self._look_past_full_at:
            return ()
        rows = await self._store.claim(room, full)
        self._found_rows = bool(rows)
        if full and not any(map(self._wanted, rows)):
            # Looking past the rows of a full destination may cost much and find nothing: at most a tenth of the time.
            self._look_past_full_at = time.monotonic() + max(self._poll, 9 * (time.monotonic() - began))
        return rows

    def _wanted(self, row: OutboxRow) -> bool:
        route = self._router.match(row.topic)
        return route is None or not self._lanes.is_full(route.destination)

    async def _reclaim_if_due(self) -> None:
        if time.monotonic() < self._reclaim_at:
            return
        reclaimed = await self._store.reclaim()
        self._reclaim_at = time.monotonic() + self._config.claim_timeout_ms / 5000
        if reclaimed:
            self._metrics.reclaimed.inc(reclaimed)
            log.warning("rows came back from a stale claim", extra={"rows": reclaimed})

    # route

    def _accept(self, rows: Sequence[OutboxRow]) -> None:
        for row in rows:
            self._held.add(row)
        for run in runs_of(rows):
            self._route(run)
        self._release.begin(list(self._lanes.overflow()))
        self._start_deliveries()

    def _route(self, run: Run) -> None:
        """Let a run wait for its destination. A head that has none goes dead at once, in order, without a slot."""
        route = self._router.match(run[0].topic)
        if route is not None and route.destination in self._publishers:
            self._lanes.put(route.destination, run)
            return
        why = (
            f"no publisher for the destination {route.destination}"
            if route
            else f"no route matches the topic {run[0].topic}"
        )
        self._settle(run, Dead(why), None, time.monotonic())

    def _start_deliveries(self) -> None:
        while taken := self._next():
            task = asyncio.create_task(self._deliver(*taken))
            self._deliveries.add(task)
            task.add_done_callback(self._deliveries.discard)

    def _next(self) -> tuple[str, Run] | None:
        """A run whose head may be published now; its slot is taken."""
        return None if self._stopping else self._lanes.take()

    def _leave(self, destination: str, run: Run) -> None:
        """Give the slot of a run back, and let the rows behind its head wait in its lane no more."""
        self._lanes.finished(destination)
        self._lanes.leave(destination, len(run) - 1)

    # publish

    async def _deliver(self, destination: str, run: Run) -> None:
        """Publish the head of a run, and then whatever may come next, so that a busy slot needs one task only."""
        taken: tuple[str, Run] | None = (destination, run)
        while taken:
            await self._deliver_head(*taken)
            taken = self._next()

    async def _deliver_head(self, destination: str, run: Run) -> None:
        began, row = time.monotonic(), run[0]
        held = self._held.of(row)
        # Here and not before the task: while it waited for its first step the row may have been lost.
        if held is None or held.lease_ends <= began:
            self._leave(destination, run)
            self._release.begin(run)
            return
        depth = self._metrics.queue_depth(destination)
        depth.inc()
        held.delivery = asyncio.current_task()
        try:
            outcome = await self._publish(self._publishers[destination], row)
        except asyncio.CancelledError:
            self._release.begin(list(run)[1:])
            self._wake.give()  # the pass that follows gives the slot to another run
            raise
        finally:
            held.delivery = None
            depth.dec()
            self._leave(destination, run)
        if self._waits_for_room and self._lanes.room:
            self._wake.give()
        self._settle(run, outcome, destination, began)

    async def _publish(self, publisher: Publisher, row: OutboxRow) -> Outcome:
        began = time.monotonic()
        try:
            await publisher.publish(Delivery(row, row.payload))
        except Rejected as error:
            return Dead(str(error))
        except (Retryable, Unavailable) as error:
            return after_failure(row, str(error), self._config.retry_base_delay_ms, getattr(error, "after", None))
        except Exception as error:  # noqa: BLE001  one message that breaks a publisher must not break the loop
            self._account.broken(row, error)
            return after_failure(row, type(error).__name__, self._config.retry_base_delay_ms)
        finally:
            self._metrics.publish_duration(publisher.kind).observe(time.monotonic() - began)
        return Delivered()

    # settle

    def _settle(self, run: Run, outcome: Outcome, destination: str | None, began: float) -> None:
        """Let the outcome of the head be written; `_settled` goes on with its key."""
        row = run.popleft()
        then = partial(self._settled, row, run, outcome, destination, began)
        held = self._held.of(row)
        if held is None:
            then(won=False)
        else:
            urgent = bool(run) or not (self._lanes.waiting or self._found_rows)
            self._settler.settle(held, outcome, then, urgent=urgent)

    def _settled(
        self, row: OutboxRow, run: Run, outcome: Outcome, destination: str | None, began: float, *, won: bool
    ) -> None:
        """Go on with the key, or hand the rest of the run back."""
        self._held.remove([row])
        self._metrics.processing.observe(time.monotonic() - began)
        self._account.settled(row, outcome, destination, won=won)
        if run and won and not isinstance(outcome, Retry) and not self._stopping and all(map(self._held.of, run)):
            self._route(run)
            self._start_deliveries()
            return
        self._release.begin(run)
        self._wake.give()

    def _lost(self, rows: list[HeldRow]) -> None:
        """Rows that another owner may have by now: what is in flight is cancelled, and that is no failed delivery."""
        for held in rows:
            if held.delivery is not None:
                self._account.cancelled(held.message)
                # Not at once: a task that is cancelled before its first step would not give its slot back.
                asyncio.get_running_loop().call_soon(held.cancel_publish)
        self._release.begin(self._lanes.drop({held.message.claim.id for held in rows}))

    # stop

    async def _wind_down(self) -> None:
        """Hand back what waits, at once; then wait for what is in flight, and leave to its lease what does not end."""
        budget = self._config.shutdown_timeout_ms / 1000
        deadline = time.monotonic() + budget
        deque(self._lanes.drain(), maxlen=0)
        self._release.begin(held.message for held in self._held if held.delivery is None and not held.settling)
        if self._deliveries:
            await asyncio.wait(self._deliveries, timeout=budget)
        if self._deliveries:
            log.warning("publishes outlived the shutdown budget", extra={"rows": len(self._deliveries)})
            await _ended(list(self._deliveries))
        with suppress(TimeoutError):
            async with asyncio.timeout(min(HAND_BACK_SECONDS, max(deadline - time.monotonic(), 1.0))):
                await self._settler.finished()


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel what still runs, and give it a moment to give back what it has."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=LONGEST_CANCEL)
