from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from queuebox_agent.demo.postgres import free_port
from queuebox_operator.server import ManagementServer
from queuebox_operator.telemetry.metrics import Metrics


@asynccontextmanager
async def serving(live: str = "", ready: str = "") -> AsyncIterator[str]:
    server = ManagementServer(port := free_port(), Metrics("1.2.3"), lambda: live, lambda: ready)
    await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop()


async def get(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        return response.status, await response.text()


async def test_a_probe_without_a_problem_is_up() -> None:
    async with serving() as url:
        assert await get(f"{url}/livez") == (200, "ok")
        assert await get(f"{url}/readyz") == (200, "ok")


async def test_a_probe_names_the_problem() -> None:
    async with serving(ready="the cache is not filled yet") as url:
        assert await get(f"{url}/readyz") == (503, "the cache is not filled yet")
        assert (await get(f"{url}/livez"))[0] == 200


async def test_the_scrape_has_the_metrics() -> None:
    async with serving() as url:
        status, text = await get(f"{url}/metrics")
        assert status == 200
        assert 'queuebox_operator{version="1.2.3"} 1.0' in text


async def test_a_port_that_is_taken_is_named() -> None:
    async with serving() as url:
        port = int(url.rsplit(":", 1)[1])
        second = ManagementServer(port, Metrics("1.2.3"), str, str)
        with pytest.raises(OSError, match=f"port {port} cannot be opened"):
            await second.start()
        await second.stop()
