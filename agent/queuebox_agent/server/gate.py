"""Lets requests in until the process stops."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Gate:
    """Knows whether the process still takes requests, and how many are in flight."""

    def __init__(self) -> None:
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.draining = False

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count one request in flight."""
        self._in_flight += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def drain(self, seconds: float) -> int:
        """Let nobody in any more and wait for those inside. Returns how many are still there when the time is over."""
        self.draining = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)
        return self._in_flight
