"""What each port answers (spec page 27)."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

from queuebox_agent.errors import Unavailable
from queuebox_agent.server.health import Health
from services.http_servers import Running, running

ALIVE = {"status": "healthy", "components": {"process": {"status": "up"}}}
MANAGEMENT_PATHS = ["/health/live", "/health/ready", "/health", "/metrics"]


@pytest.fixture
async def one_port() -> AsyncIterator[Running]:
    async with running(management=False) as servers:
        yield servers


@pytest.fixture
async def two_ports() -> AsyncIterator[Running]:
    async with running(management=True) as servers:
        yield servers


def failing(text: str) -> Health:
    async def check() -> None:
        raise Unavailable(text)

    health = Health()
    health.add("database", check)
    health.add_flag("outbox-poller", lambda: True)
    return health


async def test_the_root_says_that_queuebox_runs(one_port: Running) -> None:
    assert await one_port.get(one_port.data + "/") == (200, "QueueBox is running!")


async def test_the_root_stays_on_the_data_port(two_ports: Running) -> None:
    assert (await two_ports.get(two_ports.data + "/"))[0] == 200
    assert (await two_ports.get(two_ports.management + "/"))[0] == 404


@pytest.mark.parametrize("path", MANAGEMENT_PATHS)
async def test_without_a_management_port_the_data_port_serves(one_port: Running, path: str) -> None:
    assert (await one_port.get(one_port.data + path))[0] == 200


@pytest.mark.parametrize("path", [*MANAGEMENT_PATHS, "/admin/replay", "/admin/transform/test"])
async def test_with_a_management_port_the_data_port_does_not_know(two_ports: Running, path: str) -> None:
    assert (await two_ports.get(two_ports.data + path))[0] == 404


@pytest.mark.parametrize("path", MANAGEMENT_PATHS)
async def test_the_management_port_serves(two_ports: Running, path: str) -> None:
    assert (await two_ports.get(two_ports.management + path))[0] == 200


@pytest.mark.parametrize("path", ["/nothing", "/health/", "/inbox/unknown", "//"])
async def test_a_path_that_no_route_serves_is_404(one_port: Running, path: str) -> None:
    assert (await one_port.get(one_port.data + path))[0] == 404


async def test_another_method_is_405(one_port: Running) -> None:
    async with one_port.client.post(one_port.data + "/health/live") as answered:
        assert answered.status == 405


@pytest.mark.parametrize("path", ["/", *MANAGEMENT_PATHS])
async def test_head_is_answered_where_get_is(one_port: Running, path: str) -> None:
    async with one_port.client.head(one_port.data + path) as answered:
        assert (answered.status, await answered.read()) == (200, b"")


async def test_liveness_has_the_body_of_the_page_and_is_json(one_port: Running) -> None:
    async with one_port.client.get(one_port.data + "/health/live") as answered:
        assert answered.content_type == "application/json"
        assert await answered.text() == '{"status":"healthy","components":{"process":{"status":"up"}}}'


async def test_liveness_asks_no_component() -> None:
    async with running(failing("away"), management=False) as servers:
        status, body = await servers.get(servers.data + "/health/live")
        assert (status, json.loads(body)) == (200, ALIVE)


@pytest.mark.parametrize("path", ["/health/ready", "/health"])
async def test_readiness_is_200_when_all_that_decide_are_up(path: str) -> None:
    health = Health()
    health.add_flag("database", lambda: True)
    health.add_flag("outbox-capture", lambda: False, decides=False)
    async with running(health, management=False) as servers:
        components = '{"database":{"status":"up"},"outbox-capture":{"status":"down"}}'
        assert await servers.get(servers.data + path) == (200, f'{{"status":"healthy","components":{components}}}')


@pytest.mark.parametrize("path", ["/health/ready", "/health"])
async def test_readiness_is_503_when_one_that_decides_is_down(path: str) -> None:
    async with running(failing("away"), management=False) as servers:
        components = '{"database":{"status":"down"},"outbox-poller":{"status":"up"}}'
        assert await servers.get(servers.data + path) == (503, f'{{"status":"unhealthy","components":{components}}}')


async def test_readiness_tells_nobody_why() -> None:
    async with running(failing("password=hunter2"), management=False) as servers:
        assert "hunter2" not in (await servers.get(servers.data + "/health/ready"))[1]


async def test_readiness_answers_although_a_check_hangs() -> None:
    health = Health(0.05)
    health.add("database", asyncio.Event().wait)
    async with running(health, management=False) as servers:
        status, _ = await asyncio.wait_for(servers.get(servers.data + "/health/ready"), 2)
        assert status == 503


async def test_metrics_have_the_content_type_of_the_text_format(one_port: Running) -> None:
    async with one_port.client.get(one_port.data + "/metrics") as answered:
        assert answered.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert 'queuebox{version="1.2.3"} 1.0\n' in await answered.text()


async def test_requests_are_not_logged(one_port: Running, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    await one_port.get(one_port.data + "/")
    assert [record.getMessage() for record in caplog.records if record.name != "asyncio"] == []
