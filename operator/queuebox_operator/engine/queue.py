"""Keys to reconcile: each at most once in line, never twice at a time, and again, later and later, after a failure."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from queuebox_operator.errors import ApiError, NotLeader

Key = TypeVar("Key", bound=Hashable)

WORKERS = 8
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 0.2, 300.0
JITTER = 0.25
EXPECTED = (ApiError, NotLeader, TimeoutError, ConnectionError)

log = logging.getLogger(__name__)


def retry_after(failures: int, chance: float) -> float:
    """Seconds to the next try after so many failures in a row; `chance`, 0 to 1, spreads those that failed together."""
    seconds = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** min(failures - 1, 30))
    return seconds * (1 - JITTER + 2 * JITTER * chance)


class Queue(Generic[Key]):
    """Runs `reconcile` for keys; the seconds that it returns say when that key is due again, None that it is not.

    `finished` hears of each run: the key, its seconds, and the error that ended it, if one did.
    """

    def __init__(
        self,
        reconcile: Callable[[Key], Awaitable[float | None]],
        finished: Callable[[Key, float, Exception | None], None] = lambda *_: None,
        workers: int = WORKERS,
    ) -> None:
        self._reconcile, self._finished, self._workers = reconcile, finished, workers
        self._line: asyncio.Queue[Key] = asyncio.Queue()
        self._waiting: set[Key] = set()
        self._busy: set[Key] = set()
        self._later: dict[Key, asyncio.TimerHandle] = {}
        self._failures: dict[Key, int] = {}

    @property
    def depth(self) -> int:
        """Keys that wait now; those that are due later are not counted."""
        return len(self._waiting)

    @property
    def failing(self) -> int:
        """Keys whose last run failed."""
        return len(self._failures)

    def add(self, key: Key, delay: float = 0) -> None:
        """Have the key reconciled after so many seconds, unless it is due earlier already."""
        loop, timer = asyncio.get_running_loop(), self._later.get(key)
        if key in self._waiting or (timer and timer.when() <= loop.time() + delay):
            return
        if timer:
            self._later.pop(key).cancel()
        if delay > 0:
            self._later[key] = loop.call_later(delay, self._due, key)
        else:
            self._due(key)

    async def run(self) -> None:
        """Until cancelled. What waits, and what was cancelled, stays in line for the next run."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    def _due(self, key: Key) -> None:
        self._later.pop(key, None)
        self._waiting.add(key)
        if key not in self._busy:
            self._line.put_nowait(key)

    async def _work(self) -> None:
        while True:
            key = await self._line.get()
            self._waiting.discard(key)
            self._busy.add(key)
            again: float | None = 0  # a run that is cancelled is due at once
            try:
                again = await self._attempt(key)
            finally:
                self._busy.discard(key)
                if key in self._waiting:
                    self._line.put_nowait(key)
                elif again is not None:
                    self.add(key, again)

    async def _attempt(self, key: Key) -> float | None:
        began = time.monotonic()
        try:
            again = await self._reconcile(key)
        except Exception as error:  # noqa: BLE001  whatever went wrong with one key, the others go on
            again = self._failed(key, error)
            self._finished(key, time.monotonic() - began, error)
        else:
            self._failures.pop(key, None)
            self._finished(key, time.monotonic() - began, None)
        return again

    def _failed(self, key: Key, error: Exception) -> float:
        times = self._failures[key] = self._failures.get(key, 0) + 1
        again = retry_after(times, random.random())  # noqa: S311  no secret hangs on it
        unexpected = None if isinstance(error, EXPECTED) else error
        told = {"failures": times, "again_in": f"{again:.1f} s"}
        log.warning("the reconcile failed: %s", error, extra=told, exc_info=unexpected)
        return again
