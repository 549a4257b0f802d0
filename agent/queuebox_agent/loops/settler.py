import asyncio
import logging
import time
from dataclasses import dataclass

from queuebox_agent.domain.outcome import Outcome, Settlement
from queuebox_agent.errors import QueueBoxError
from queuebox_agent.loops.held import HeldRow
from queuebox_agent.ports import OutboxStore

LINGER = 0.01
"""Seconds that an outcome waits for company while more rows wait to be published, so that company is sure to come."""
LARGEST_BATCH = 500
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    row: HeldRow
    settlement: Settlement
    won: asyncio.Future[bool]


class Settler:
    """Writes outcomes in batches, one statement a kind. While the database is away an outcome is kept and tried again
    until its lease may be over: the destination has the message already, and only this write spares it a duplicate.
    """

    def __init__(self, store: OutboxStore) -> None:
        self._store = store
        self._waiting: list[_Waiting] = []
        self._some = asyncio.Event()
        self._urgent = asyncio.Event()

    async def settle(self, row: HeldRow, outcome: Outcome, *, urgent: bool) -> bool:
        """Whether the write won; False: the claim was lost. `urgent`: it does not linger."""
        row.settling = True
        waiting = _Waiting(row, Settlement(row.message.claim, outcome), asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._some.set()
        if urgent or len(self._waiting) >= LARGEST_BATCH:
            self._urgent.set()
        return await waiting.won

    async def run(self) -> None:
        """Write for ever; the owner cancels it when nobody settles any more."""
        while True:
            await self._some.wait()
            if not self._urgent.is_set():
                await self._linger()
            batch, self._waiting = self._waiting[:LARGEST_BATCH], self._waiting[LARGEST_BATCH:]
            if not self._waiting:
                self._some.clear()
                self._urgent.clear()
            await self._write(batch)

    async def _linger(self) -> None:
        timer = asyncio.get_running_loop().call_later(LINGER, self._urgent.set)
        await self._urgent.wait()
        timer.cancel()

    async def _write(self, batch: list[_Waiting]) -> None:
        pause = FIRST_PAUSE
        while batch:
            try:
                won = await self._store.settle([waiting.settlement for waiting in batch])
            except Exception as error:
                unforeseen = None if isinstance(error, QueueBoxError) else error
                log.warning(
                    "outcomes wait for the database",
                    extra={"rows": len(batch), "reason": str(error)},
                    exc_info=unforeseen,
                )
                batch = self._still_leased(batch)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            for waiting in batch:
                _answer(waiting, won=waiting.settlement.claim.id in won)
            return

    @staticmethod
    def _still_leased(batch: list[_Waiting]) -> list[_Waiting]:
        now = time.monotonic()
        for waiting in batch:
            if waiting.row.lease_ends <= now:
                _answer(waiting, won=False)
        return [waiting for waiting in batch if waiting.row.lease_ends > now]


def _answer(waiting: _Waiting, *, won: bool) -> None:
    if not waiting.won.done():
        waiting.won.set_result(won)
