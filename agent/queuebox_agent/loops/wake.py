import asyncio


class Wake:
    """A signal that many may give and one waits for. Signals that come together are one."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def give(self) -> None:
        """Wake the waiter, or let its next wait return at once."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Return at the next signal, at once if one was given since the last wait, or after `seconds`."""
        timer = asyncio.get_running_loop().call_later(max(seconds, 0.001), self._event.set)
        try:
            await self._event.wait()
        finally:
            timer.cancel()
            self._event.clear()
