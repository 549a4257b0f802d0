import asyncio
import gc
import logging
import signal
from collections.abc import Coroutine

import click
import uvloop

from queuebox_agent.app import Agent
from queuebox_agent.cli.configured import configured
from queuebox_api.config import Config

OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""Rows leave no cycles behind, so that to look for some every 700 objects, as by default, costs and finds nothing."""

log = logging.getLogger(__name__)


@click.command()
@configured
def run(config: Config) -> None:
    """Run an agent until SIGTERM or SIGINT.

    It waits for the database, applies the migrations, opens its ports and delivers. On the first signal it takes no
    more work, hands back what it has not begun, waits for what is in flight up to outbox.shutdownTimeoutMs, and ends
    with 0. A second signal ends it at once; the rows in flight come back when their leases end.
    """
    gc.collect()
    gc.freeze()  # what was imported stays for good: no later collection looks at it
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    uvloop.run(_run(config))


async def _run(config: Config) -> None:
    agent, stop = Agent(config), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _on_signal, number, stop)
    stopping = asyncio.create_task(stop.wait())
    try:
        if await _before(stopping, agent.start()):
            await _before(stopping, agent.delivering())
    finally:
        stopping.cancel()
        await agent.stop()
    log.info("stopped")


async def _before(stopping: asyncio.Task[bool], work: Coroutine[None, None, None]) -> bool:
    """Whether the work came to its end before the signal. Raises what it raised."""
    task = asyncio.create_task(work)
    await asyncio.wait({stopping, task}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
        return True
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return False


def _on_signal(number: int, stop: asyncio.Event) -> None:
    if stop.is_set():
        log.warning("a second signal: ending at once", extra={"signal": signal.Signals(number).name})
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    log.info("stopping", extra={"signal": signal.Signals(number).name})
    stop.set()
