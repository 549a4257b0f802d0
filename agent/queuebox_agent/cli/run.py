import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine

import click

from queuebox_agent.app import Agent
from queuebox_agent.cli.configured import configured
from queuebox_api.config import Config

log = logging.getLogger(__name__)


@click.command()
@configured
def run(config: Config) -> None:
    """Run an agent until SIGTERM or SIGINT.

    It waits for the database, applies the migrations, opens its ports and delivers. On the first signal it takes no
    more work, hands back what it has not begun, waits for what is in flight up to outbox.shutdownTimeoutMs, and ends
    with 0. A second signal ends it at once; the rows in flight come back when their leases end.
    """
    run_loop(_run(config))


def run_loop(work: Coroutine[None, None, None]) -> None:
    """Run to the end on the fastest event loop there is."""
    if sys.platform == "win32":
        asyncio.run(work)
        return
    import uvloop  # noqa: PLC0415  not to be had on Windows

    uvloop.run(work)


async def _run(config: Config) -> None:
    agent, stop = Agent(config), asyncio.Event()
    starting = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _on_signal, number, stop, starting)
    try:
        await agent.start()
        if starting is not None and not stop.is_set():
            await agent.run(stop)
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    finally:
        await asyncio.shield(agent.stop())
    log.info("stopped")


def _on_signal(number: int, stop: asyncio.Event, starting: asyncio.Task[None] | None) -> None:
    if stop.is_set():
        log.warning("a second signal: ending at once", extra={"signal": signal.Signals(number).name})
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    log.info("stopping", extra={"signal": signal.Signals(number).name})
    stop.set()
    del starting
