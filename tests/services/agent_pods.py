"""Management ports of agents on the loopback, each as the pod that Kubernetes would show."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from queuebox_agent.demo.postgres import free_port
from queuebox_agent.telemetry.metrics import CONTENT_TYPE, Metrics

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def scrape_of(metrics: Metrics) -> Handler:
    """What an agent with these metrics answers."""

    async def scrape(_: web.Request) -> web.Response:
        return web.Response(body=metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})

    return scrape


def pod(port: int, box: str = "orders", uid: str = "1", **status: object) -> dict[str, Any]:
    """As the API server lists it."""
    ports = [{"name": "http", "containerPort": 8080}, {"name": "management", "containerPort": port}]
    return {
        "metadata": {"namespace": "shop", "name": uid, "uid": uid, "labels": {"queuebox.dev/box": box}},
        "spec": {"containers": [{"name": "sidecar"}, {"name": "queuebox-agent", "ports": ports}]},
        "status": {"phase": "Running", "podIP": "127.0.0.1"} | status,
    }


@asynccontextmanager
async def agent_pod(answers: Metrics | Handler, **attributes: Any) -> AsyncIterator[dict[str, Any]]:
    """A pod that answers on its management port."""
    application = web.Application()
    handler = scrape_of(answers) if isinstance(answers, Metrics) else answers
    application.add_routes([web.get("/metrics", handler)])
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
    try:
        yield pod(port, **attributes)
    finally:
        await runner.cleanup()
