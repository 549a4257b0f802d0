"""The one place where the parts of the operator are put together; start and stop order."""

import asyncio
import logging
import re
import signal
import socket
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import aiohttp

from queuebox_operator.controller import Controller
from queuebox_operator.engine.lease import Lease
from queuebox_operator.engine.queue import Queue
from queuebox_operator.errors import ApiError, Conflict, NotLeader, Unavailable
from queuebox_operator.facts import Defaults, Manifest, Ref
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.credentials import Credentials, NoCredentials, credentials
from queuebox_operator.kube.events import Events
from queuebox_operator.kube.leases import LeaseObject
from queuebox_operator.kube.session import open_session
from queuebox_operator.reports import POD_LABELS, Reports
from queuebox_operator.server import ManagementServer
from queuebox_operator.telemetry.metrics import Cause, Metrics, Standing
from queuebox_operator.watch import WATCH_SECONDS, World
from queuebox_operator.webhook import Webhook, findings

SYNC_SECONDS: Final = 60.0
"""What is not installed is never listed, and what is forbidden neither."""
STILL_SECONDS: Final = WATCH_SECONDS + 120
"""A watch that was not opened again by then hangs, whatever the API server does.

Less than WATCH_SECONDS would end a sound process: a quiet watch asks nothing before it is over. The rest is for the
request that opens it again, and for its retries on a busy node.
"""

_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")

log = logging.getLogger(__name__)


class Unfit(Exception):
    """A person must change something: an option, a port, a file."""


class Broken(Exception):
    """A part did not start, or ended by itself."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the operator is started with; docs/reference/operator-cli.md says what each means."""

    agent_image: str
    namespaces: tuple[str, ...]
    lease_namespace: str
    lease_name: str
    port: int
    webhook_cert_dir: Path | None
    webhook_port: int


async def operate(options: Options) -> None:
    """Run until SIGTERM or SIGINT. Raises Unfit or Broken."""
    for name in (*options.namespaces, options.lease_namespace):
        if not _NAMESPACE.fullmatch(name):
            raise Unfit(f"{name!r} is no name of a namespace")
    try:
        who = credentials()
    except NoCredentials as error:
        raise Unfit(str(error)) from None
    # The lease has connections of its own: no write stands before its renewal.
    async with open_session(who) as http, open_session(who) as lease_http:
        await Operator(options, who, http, lease_http).run()


class Operator:
    """One replica. Each keeps its view of the cluster warm; only the one that holds the lease runs the queue."""

    def __init__(
        self, options: Options, who: Credentials, http: aiohttp.ClientSession, lease_http: aiohttp.ClientSession
    ) -> None:
        identity = f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}"
        self._options = options
        self._metrics = Metrics(version("queuebox"), self._standings)
        self._world = World(who, options.namespaces)
        self._lease = Lease(LeaseObject(Api(lease_http), options.lease_namespace, options.lease_name), identity)
        self._api = Api(http, self._lease.held, self._metrics.wrote)
        self._reports = Reports(self._pods, self._changed, self._metrics)
        events, defaults = Events(self._api, identity), Defaults(options.agent_image)
        controller = Controller(self._world, self._api, events, self._reports, defaults)
        self._queue = Queue(controller.reconcile, self._finished)
        self._world.changed(self._changed)
        self._stop = asyncio.Event()
        self._metrics.leader.set_function(self._lease.held)
        self._metrics.queue_depth.set_function(lambda: self._queue.depth if self._lease.held() else 0)

    async def run(self) -> None:
        """Start, work, and stop in the reverse order: the lease is given back before the watches end."""
        over = asyncio.Event()
        servers, tasks = self._servers(), list[asyncio.Task[None]]()
        try:
            for server in servers:
                await _start(server)
            informing = asyncio.create_task(self._world.run(over))
            tasks += map(asyncio.create_task, (self._lead_when_synced(), self._stopped()))
            tasks += (asyncio.create_task(server.run()) for server in servers if isinstance(server, Webhook))
            await asyncio.wait({informing, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # What writes ends before what it reads from.
            await _cancel(tasks)
            for server in servers:
                await server.stop()
            over.set()
        await asyncio.wait({informing})
        self._raise_what_ended_it(tasks, informing)
        log.info("stopped")

    def _servers(self) -> list[ManagementServer | Webhook]:
        options = self._options
        servers: list[ManagementServer | Webhook] = [
            ManagementServer(options.port, self._metrics, self._not_alive, self._not_ready)
        ]
        if options.webhook_cert_dir:
            servers.append(Webhook(findings, options.webhook_cert_dir, self._metrics, options.webhook_port))
        return servers

    async def _lead_when_synced(self) -> None:
        try:
            await asyncio.wait_for(self._world.synced.wait(), SYNC_SECONDS)
        except TimeoutError:
            raise Broken(
                f"not everything could be listed within {SYNC_SECONDS:g} s: does the API server answer, are the "
                "definitions installed, has the operator its rights?"
            ) from None
        log.info("synced", extra={"objects": len(self._world.cache)})
        for number in (signal.SIGTERM, signal.SIGINT):  # kopf has set its own by now
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)
        await self._lease.run(self._lead)

    async def _lead(self) -> None:
        for box in self._world.boxes():
            self._queue.add(box)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._queue.run())
                group.create_task(self._reports.run())
        finally:
            await self._api.landed()

    async def _stopped(self) -> None:
        await self._stop.wait()

    def _on_signal(self, number: signal.Signals) -> None:
        if self._stop.is_set():
            log.warning("a second signal: ending at once", extra={"signal": signal.Signals(number).name})
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        log.info("stopping", extra={"signal": signal.Signals(number).name})
        self._stop.set()

    def _raise_what_ended_it(self, tasks: Iterable[asyncio.Task[None]], informing: asyncio.Task[None]) -> None:
        for task in tasks:
            if not task.cancelled():
                task.result()
        if error := informing.exception():
            raise Broken(f"the watches ended: {type(error).__name__}: {error}") from error
        if self._world.synced.is_set() and not self._stop.is_set():
            raise Broken("the watches ended")

    def _changed(self, box: Ref) -> None:
        self._queue.add(box)

    def _finished(self, _: Ref, seconds: float, error: Exception | None) -> None:
        self._metrics.reconciled(seconds, _cause(error) if error else None)

    async def _pods(self) -> list[Manifest]:
        namespaces = self._options.namespaces or (None,)
        return [pod for namespace in namespaces for pod in await self._api.list("Pod", namespace, POD_LABELS)]

    def _standings(self) -> Iterator[Standing]:
        for it in self._world.resources():
            for condition in it.status.get("conditions") or ():
                yield Standing(it.ref.kind, condition["type"], condition["status"])

    def _not_alive(self) -> str:
        return "a watch stands still" if self._world.oldest_request() > STILL_SECONDS else ""

    def _not_ready(self) -> str:
        return "" if self._world.synced.is_set() else "not everything was listed yet"


async def _start(server: ManagementServer | Webhook) -> None:
    try:
        await server.start()
    except OSError as error:
        raise Unfit(str(error)) from None


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _cause(error: Exception) -> Cause:
    match error:
        case Conflict():
            return "conflict"
        case Unavailable():
            return "unavailable"
        case ApiError():
            return "refused"
        case NotLeader():
            return "deposed"
        case _:
            return "unexpected"
