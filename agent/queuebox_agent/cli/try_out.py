"""Small servers to try QueueBox with, where the machine has none. The tutorials use them."""

import asyncio
import signal
import tempfile
from pathlib import Path

import click
from aiohttp import web

from queuebox_agent.demo.postgres import LocalPostgres


@click.group("try")
def try_out() -> None:
    """Small servers to try QueueBox with. Not for production."""


@try_out.command()
@click.option("--port", type=click.IntRange(1, 65535), default=5432, show_default=True, help="The port on 127.0.0.1.")
def postgres(port: int) -> None:
    """Run an empty PostgreSQL until Ctrl-C, then delete it. Needs the extra: pip install 'queuebox[demo]'."""
    with tempfile.TemporaryDirectory(prefix="queuebox-try-") as folder:
        server = LocalPostgres(Path(folder), port=port)
        server.initialize()
        server.start()
        try:
            click.echo(f"PostgreSQL answers at {server.url}")
            asyncio.run(_until_stopped())
        finally:
            server.stop("immediate")


@try_out.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address; 0.0.0.0 is every one.")
@click.option("--port", type=click.IntRange(1, 65535), default=8081, show_default=True, help="The port.")
def receiver(host: str, port: int) -> None:
    """Run an HTTP endpoint that answers 200 and prints what it receives, until Ctrl-C."""
    asyncio.run(_receive(host, port))


async def _receive(host: str, port: int) -> None:
    application = web.Application()
    application.add_routes([web.post("/{path:.*}", _print)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    click.echo(f"receiver listening on {port}")
    try:
        await _until_stopped()
    finally:
        await runner.cleanup()


async def _print(request: web.Request) -> web.Response:
    click.echo(f"delivered {request.method} {request.path} {await request.text()}")
    return web.Response()


async def _until_stopped() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
