import time

from queuebox_agent.loops.forever import forever
from queuebox_agent.ports import OutboxStore
from queuebox_agent.telemetry.metrics import Metrics


class Gauges:
    """Keeps the pending gauges, at most one query an interval and none on a scrape (spec pages 21 and 29).

    `interval`: seconds. It runs beside the claims, so that counting a long backlog holds back no delivery.
    """

    def __init__(self, store: OutboxStore, metrics: Metrics, interval: float) -> None:
        self._store, self._metrics, self._interval = store, metrics, interval

    async def run(self) -> None:
        """Refresh for ever; the owner cancels it."""
        await forever("the backlog could not be counted", self._refresh)

    async def _refresh(self) -> float:
        began = time.monotonic()
        backlog = await self._store.backlog()
        self._metrics.pending.set(backlog.pending)
        self._metrics.oldest_pending_age.set(backlog.oldest_age)
        # A count that takes long on a large backlog may take a tenth of the time, no more.
        return max(self._interval, 9 * (time.monotonic() - began))
