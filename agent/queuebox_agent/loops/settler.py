import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from queuebox_agent.domain.message import Claim
from queuebox_agent.domain.outcome import Outcome, Settlement
from queuebox_agent.loops.fault import tell
from queuebox_agent.loops.forever import forever
from queuebox_agent.loops.halves import in_halves
from queuebox_agent.loops.held import HeldRow
from queuebox_agent.ports import OutboxStore

LINGER = 0.01
"""Seconds that an outcome waits for company while more rows wait to be published, so that company is sure to come."""
LARGEST_BATCH = 500
LONGEST_PAUSE = 2.0

log = logging.getLogger(__name__)


class Written(Protocol):
    """What is called when an outcome was written."""

    def __call__(self, *, won: bool) -> None:
        """`won` is False when the claim was lost before. It must not raise."""


@dataclass(slots=True)
class _Waiting:
    row: HeldRow
    settlement: Settlement
    then: Written


class Settler:
    """Writes outcomes in batches, one statement a kind.

    An outcome that could not be written is kept and tried again until its lease may be over: the destination has the
    message already, and only this write spares it a duplicate. Others pass it meanwhile.
    """

    def __init__(self, store: OutboxStore) -> None:
        self._store = store
        self._waiting: list[_Waiting] = []
        self._failed: dict[Claim, _Waiting] = {}
        self._unanswered = 0
        self._some = asyncio.Event()
        self._urgent = asyncio.Event()
        self._some_failed = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()

    @property
    def failed(self) -> int:
        """Outcomes whose write failed and that wait for another one."""
        return len(self._failed)

    def settle(self, row: HeldRow, outcome: Outcome, then: Written, *, urgent: bool) -> None:
        """Write `outcome` soon and call `then`. `urgent`: it does not linger. A call back, because a future and a
        task that waits for it would cost every row more than the write.
        """
        row.settling = True
        self._unanswered += 1
        self._none.clear()
        self._waiting.append(_Waiting(row, Settlement(row.message.claim, outcome), then))
        self._some.set()
        if urgent or len(self._waiting) >= LARGEST_BATCH:
            self._urgent.set()

    async def finished(self) -> None:
        """Return when every outcome was written or given up."""
        await self._none.wait()

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

    async def run_again(self) -> None:
        """Write again what failed, for ever; the owner cancels it."""
        await forever("outcomes wait for the database", self._write_again, LONGEST_PAUSE)

    async def _linger(self) -> None:
        timer = asyncio.get_running_loop().call_later(LINGER, self._urgent.set)
        await self._urgent.wait()
        timer.cancel()

    async def _write(self, batch: list[_Waiting]) -> None:
        try:
            won = await self._store.settle([waiting.settlement for waiting in batch])
        except Exception as error:  # noqa: BLE001  the outcomes are true whatever the write met: it is tried again
            tell(log, "outcomes were not written", error, rows=len(batch))
            self._failed |= {waiting.settlement.claim: waiting for waiting in batch}
            self._some_failed.set()
        else:
            self._answer(batch, won)

    async def _write_again(self) -> float:
        await self._some_failed.wait()
        now = time.monotonic()
        self._answer_failed([waiting for waiting in self._failed.values() if waiting.row.lease_ends <= now])
        async for part, answer in in_halves(list(self._failed.values()), self._settle_again):
            if isinstance(answer, Exception):
                tell(log, "an outcome cannot be written", answer)
            else:
                self._answer_failed(part, answer)
        if not self._failed:
            self._some_failed.clear()
        return LONGEST_PAUSE if self._failed else 0.0

    async def _settle_again(self, part: Sequence[_Waiting]) -> frozenset[UUID]:
        return await self._store.settle([waiting.settlement for waiting in part], again=True)

    def _answer_failed(self, part: Sequence[_Waiting], won: frozenset[UUID] = frozenset()) -> None:
        for waiting in part:
            del self._failed[waiting.settlement.claim]
        self._answer(part, won)

    def _answer(self, batch: Sequence[_Waiting], won: frozenset[UUID]) -> None:
        for waiting in batch:
            self._unanswered -= 1
            waiting.then(won=waiting.settlement.claim.id in won)
        if not self._unanswered:
            self._none.set()
