"""The HTTP servers of one process and their life."""

import logging
import os
from contextlib import AsyncExitStack

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from queuebox_agent.errors import Misconfigured
from queuebox_agent.server.data import data_application
from queuebox_agent.server.gate import Gate
from queuebox_agent.server.health import Health
from queuebox_agent.server.management import management_routes
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import Config

log = logging.getLogger(__name__)

DRAIN_SECONDS = 5.0
GRACE_SECONDS = 5.0
IDLE_SECONDS = 75.0
"""Ends a connection that sends no request, or not the whole head of one, for so long. Load balancers close after 60."""

MAX_HEADER_BYTES = 8190
MAX_HEADERS = 128

# A malformed request is the client's fault and is answered with 400; logged, it would let anyone fill the log.
_requests_log = logging.getLogger(f"{__name__}.requests")
_requests_log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))


class Servers:
    """The data port and, when the configuration names one, the management port (spec page 27; shutdown: page 20).

    Call `start`, then once `drain` and `stop`. Both ports are open on every address of the machine.
    """

    def __init__(self, config: Config, health: Health, metrics: Metrics) -> None:
        self._gate = Gate()
        management = management_routes(health, metrics, self._gate)
        self._ports: list[_Port] = []
        if config.server.management_port is not None:
            application = web.Application()
            application.add_routes(management)
            self._ports.append(_Port("managementPort", config.server.management_port, application))
            management = ()
        application = data_application(management, self._gate, config.inbox.max_body_bytes)
        self._ports.append(_Port("httpPort", config.server.http_port, application))

    async def start(self) -> None:
        """Listen, on the management port first. Raises Misconfigured when a port cannot be had; then call `stop`."""
        for port in self._ports:
            await port.open()

    async def drain(self) -> None:
        """Answer new requests with 503, say "not ready", and wait a bounded time for the requests in flight."""
        if left := await self._gate.drain(DRAIN_SECONDS):
            log.warning("requests were still in flight at the end of the drain", extra={"requests": left})

    async def stop(self) -> None:
        """Close the data port, then the management port, each within the grace time, whether or not it is open."""
        self._gate.draining = True
        async with AsyncExitStack() as last_opened_first:
            for port in self._ports:
                last_opened_first.push_async_callback(port.close)


class _Port:
    def __init__(self, key: str, number: int, application: web.Application) -> None:
        self._key = key
        self._number = number
        self._runner = web.AppRunner(
            application,
            # The library waits so long for a handler to end, and once more after it told the handler to.
            shutdown_timeout=GRACE_SECONDS / 2,
            keepalive_timeout=IDLE_SECONDS,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            max_headers=MAX_HEADERS,
            access_log=None,
            logger=_requests_log,
        )

    async def open(self) -> None:
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, port=self._number).start()
        except OSError as error:
            setting = f"server.{self._key} (QUEUEBOX_SERVER_{self._key.upper()})"
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise Misconfigured(f"{setting}: port {self._number} cannot be opened: {reason}") from None
        log.info("listening", extra={"setting": f"server.{self._key}", "port": self._number})

    async def close(self) -> None:
        await self._runner.cleanup()
