"""The port of a probe and of a scrape. None of its routes needs credentials, and none touches the API server."""

import os
from collections.abc import Callable

from aiohttp import web

from queuebox_operator.telemetry.metrics import CONTENT_TYPE, Metrics

GRACE_SECONDS = 1.0


class ManagementServer:
    """`/livez`, `/readyz` and `/metrics`. A probe is down while its function names a problem."""

    def __init__(self, port: int, metrics: Metrics, live: Callable[[], str], ready: Callable[[], str]) -> None:
        async def livez(_: web.Request) -> web.Response:
            return _probe(live())

        async def readyz(_: web.Request) -> web.Response:
            return _probe(ready())

        async def scrape(_: web.Request) -> web.Response:
            return web.Response(body=metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})

        self._port = port
        application = web.Application()
        application.add_routes([web.get("/livez", livez), web.get("/readyz", readyz), web.get("/metrics", scrape)])
        self._runner = web.AppRunner(application, shutdown_timeout=GRACE_SECONDS, access_log=None)

    async def start(self) -> None:
        """Listen on every address of the machine. Raises OSError that names the port when it cannot be had."""
        await self._runner.setup()
        await listen(self._runner, self._port)

    async def stop(self) -> None:
        """Close the port, whether or not it is open."""
        await self._runner.cleanup()


async def listen(runner: web.AppRunner, port: int, **options: object) -> None:
    """Open the port for the runner. Raises OSError that names the port when it cannot be had."""
    try:
        await web.TCPSite(runner, port=port, **options).start()  # type: ignore[arg-type]  # options of TCPSite itself
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(f"port {port} cannot be opened: {reason}") from None


def _probe(problem: str) -> web.Response:
    return web.Response(text=problem or "ok", status=503 if problem else 200)
