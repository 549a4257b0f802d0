"""Health and metrics: on the management port when there is one, else on the data port (spec page 27)."""

from collections.abc import Sequence

from aiohttp import web

from queuebox_agent.server.answer import answer
from queuebox_agent.server.gate import Gate
from queuebox_agent.server.health import Health, Report, process
from queuebox_agent.telemetry.metrics import CONTENT_TYPE, Metrics

LIVE = "/health/live"


def management_routes(health: Health, metrics: Metrics, gate: Gate) -> Sequence[web.RouteDef]:
    """The routes of a probe and of a scrape. None needs credentials."""

    async def live(_: web.Request) -> web.Response:
        return _health(process(up=True))

    async def ready(_: web.Request) -> web.Response:
        # The parts stop one after another during a drain: what they say no longer matters, and asking could hang.
        return _health(process(up=False) if gate.draining else await health.report())

    async def scrape(_: web.Request) -> web.Response:
        return web.Response(body=metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})

    return [
        web.get(LIVE, live),
        web.get("/health/ready", ready),
        web.get("/health", ready),
        web.get("/metrics", scrape),
    ]


def _health(report: Report) -> web.Response:
    return answer(report.body(), 200 if report.healthy else 503)
