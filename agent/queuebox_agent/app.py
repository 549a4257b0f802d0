"""The one place where the parts of an agent are put together. Start and stop order: spec page 20, edge-cases 5.4."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from threading import Event

from queuebox_agent.broker.http.publisher import HttpPublisher
from queuebox_agent.broker.http.tokens import TokenCache
from queuebox_agent.domain.pattern import TopicPattern
from queuebox_agent.domain.router import Route, Router
from queuebox_agent.errors import Misconfigured
from queuebox_agent.loops.outbox import OutboxLoop
from queuebox_agent.ports import Publisher
from queuebox_agent.server import Health, Servers
from queuebox_agent.store.postgres.connect import conninfo, open_pool, wait_for_database
from queuebox_agent.store.postgres.migrate import migrate
from queuebox_agent.store.postgres.names import OutboxNames
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from queuebox_agent.store.postgres.schema import check_schema
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import Config, HttpDestination

STEP_SECONDS = 10.0
"""The bound of a stop step that has no budget of its own."""

SHORTEST_RUN_LIMIT = 10
"""A run of a key may be so long in any case. Otherwise only so long that the waiting rows can fill every slot."""

log = logging.getLogger(__name__)


class Agent:
    """One agent process. Call `start`, await `delivering`, and call `stop`, also when `start` failed."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.metrics = Metrics(version("queuebox"))
        self._stop_steps: list[tuple[str, float, Callable[[], Awaitable[None]]]] = []
        self._delivering: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises Misconfigured or Unavailable when a part cannot start; what started before it is left to `stop`."""
        router, publishers = self._router(), self._publishers()
        store = await self._open_store()
        for name, publisher in publishers.items():
            self._on_stop(f"publisher {name}", publisher.close)
            await publisher.start()
        loop = OutboxLoop(store, router, publishers, self.metrics, self._config.outbox)
        self._delivering = asyncio.create_task(loop.run())
        self._on_stop(
            "outbox poller",
            partial(_stop_delivering, loop, self._delivering),
            self._config.outbox.shutdown_timeout_ms / 1000 + STEP_SECONDS,
        )
        await self._serve(store, loop)
        log.info("started", extra={"destinations": len(publishers), "routes": len(self._config.routes)})

    async def delivering(self) -> None:
        """Return when the delivery ends by itself; raises what ended it. Cancelling it leaves the delivery alone."""
        if self._delivering is None:
            raise RuntimeError("start comes first")
        await asyncio.shield(self._delivering)

    async def stop(self) -> None:
        """Stop what was started, last first. Every step is bounded, and a failing one skips none."""
        while self._stop_steps:
            name, seconds, step = self._stop_steps.pop()
            task = asyncio.ensure_future(step())
            await asyncio.wait({task}, timeout=seconds)
            # A step that is late is told to end and not waited for: it might not listen.
            if task.cancel() or task.exception() is not None:
                reason = type(task.exception()).__name__ if task.done() else f"not done within {seconds:g} s"
                log.warning("a part did not stop cleanly", extra={"part": name, "reason": reason})

    def _on_stop(self, name: str, step: Callable[[], Awaitable[None]], seconds: float = STEP_SECONDS) -> None:
        self._stop_steps.append((name, seconds, step))

    def _router(self) -> Router:
        routes = [Route(TopicPattern(route.topic_pattern), route.destination) for route in self._config.routes]
        return Router(routes, frozenset(self._config.destinations))

    def _publishers(self) -> dict[str, Publisher]:
        publishers: dict[str, Publisher] = {}
        tokens = TokenCache()
        for name, destination in self._config.destinations.items():
            if not isinstance(destination, HttpDestination):
                raise Misconfigured(f"destinations.{name}: no publisher for the type {destination.type}")
            publishers[name] = HttpPublisher(name, destination, self._config.http, self.metrics, tokens)
        return publishers

    async def _open_store(self) -> PostgresOutbox:
        database = self._config.database
        target = conninfo(database)
        await wait_for_database(target, database.startup_timeout_ms)
        if database.migrate:
            stopping = Event()
            try:
                await asyncio.to_thread(migrate, target, stopping=stopping)
            finally:
                stopping.set()  # a cancelled start leaves the thread behind
        for advice in await asyncio.to_thread(check_schema, target, database):
            log.warning("the claim is slower than it could be", extra={"advice": advice})
        pool = await open_pool(target, database)
        self._on_stop("database pool", pool.close)
        self.metrics.watch_pool("queuebox", pool.get_stats)
        outbox = self._config.outbox
        longest_run = max(outbox.batch_size // outbox.concurrency, min(SHORTEST_RUN_LIMIT, outbox.batch_size))
        names = OutboxNames.from_config(database)
        return PostgresOutbox(pool, names, outbox.claim_timeout_ms / 1000, longest_run=longest_run)

    async def _serve(self, store: PostgresOutbox, loop: OutboxLoop) -> None:
        health = Health()
        health.add("database", store.ping)
        health.add_flag("outbox-poller", lambda: loop.healthy)
        servers = Servers(self._config, health, self.metrics)
        self._on_stop("servers", servers.stop)
        self._on_stop("requests in flight", servers.drain)
        await servers.start()


async def _stop_delivering(loop: OutboxLoop, delivering: asyncio.Task[None]) -> None:
    loop.stop()
    await delivering
