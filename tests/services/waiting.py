import asyncio
import time
from collections.abc import Awaitable, Callable
from inspect import isawaitable

LOOK_EVERY = 0.01


async def until(
    condition: Callable[[], bool | Awaitable[bool]],
    seconds: float = 10.0,
    what: str = "the condition",
    every: float = LOOK_EVERY,
) -> None:
    """Return as soon as the condition holds, looking `every` so many seconds; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    tick = asyncio.Event()
    while True:
        answer = condition()
        if await answer if isawaitable(answer) else answer:
            return
        assert time.monotonic() < deadline, f"{what} did not hold within {seconds} s"
        asyncio.get_running_loop().call_later(every, tick.set)
        await tick.wait()
        tick.clear()


def until_sync(
    condition: Callable[[], bool], seconds: float = 10.0, what: str = "the condition", every: float = LOOK_EVERY
) -> None:
    """The same for a test without an event loop."""
    asyncio.run(until(condition, seconds, what, every))


async def working_for(seconds: float) -> None:
    """How a receiver that takes its time answers: nothing else waits on it."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    await over.wait()
