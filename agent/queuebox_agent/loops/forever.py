import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NoReturn

from queuebox_agent.loops.fault import tell

FIRST_PAUSE = 0.1

log = logging.getLogger(__name__)


async def forever(event: str, step: Callable[[], Awaitable[float]], longest_pause: float = 5.0) -> NoReturn:
    """Repeat a step that returns the seconds until the next one.

    A step that fails is logged as `event` and tried again, each time after twice the pause, up to `longest_pause`
    seconds. Only cancelling ends it.
    """
    failed_pause = FIRST_PAUSE
    while True:
        try:
            pause = await step()
            failed_pause = FIRST_PAUSE
        except Exception as error:  # noqa: BLE001  a chore that failed once must go on
            tell(log, event, error)
            pause, failed_pause = min(failed_pause, longest_pause), failed_pause * 2
        await asyncio.sleep(pause)
