"""Drain, then stop (spec page 20, shutdown; edge-cases 5.4)."""

import asyncio
import socket
import time

import pytest

from queuebox_agent.demo.postgres import free_port
from queuebox_agent.errors import Misconfigured
from queuebox_agent.server import servers as module
from queuebox_agent.server.gate import Gate
from queuebox_agent.server.health import Health
from queuebox_agent.server.servers import Servers
from queuebox_agent.telemetry.metrics import Metrics
from services.http_servers import running, server_config
from services.waiting import until

SHUTTING_DOWN = (503, '{"error":"QueueBox is shutting down"}')


def slow_health() -> tuple[Health, asyncio.Event, asyncio.Event]:
    """A readiness that answers when the second event is set, and sets the first when it is asked."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def check() -> None:
        asked.set()
        await go.wait()

    health = Health(bound=60)
    health.add("database", check)
    return health, asked, go


def connects(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def port_of(address: str) -> int:
    return int(address.rsplit(":", 1)[1])


@pytest.mark.parametrize("path", ["/", "/metrics", "/health/ready", "/nothing"])
async def test_a_request_during_the_drain_gets_503(path: str) -> None:
    async with running(management=False) as started:
        await started.servers.drain()
        assert await started.get(started.data + path) == SHUTTING_DOWN


async def test_a_refusal_closes_the_connection() -> None:
    async with running(management=False) as started:
        await started.servers.drain()
        async with started.client.get(started.data + "/") as answered:
            assert answered.headers["Connection"] == "close"


@pytest.mark.parametrize("management", [True, False])
async def test_liveness_is_200_during_the_drain(*, management: bool) -> None:
    async with running(management=management) as started:
        await started.servers.drain()
        assert (await started.get(started.management + "/health/live"))[0] == 200


async def test_readiness_is_503_during_the_drain_without_asking_anyone() -> None:
    health, asked, _ = slow_health()
    async with running(health, management=True) as started:
        await started.servers.drain()
        down = '{"status":"unhealthy","components":{"process":{"status":"down"}}}'
        assert await started.get(started.management + "/health/ready") == (503, down)
        assert not asked.is_set()


async def test_metrics_are_served_on_the_management_port_during_the_drain() -> None:
    async with running(management=True) as started:
        await started.servers.drain()
        assert (await started.get(started.management + "/metrics"))[0] == 200


async def test_a_request_in_flight_is_answered_and_the_drain_waits_for_it() -> None:
    health, asked, go = slow_health()
    async with running(health, management=False) as started:
        request = asyncio.create_task(started.get(started.data + "/health/ready"))
        await asked.wait()
        drain = asyncio.create_task(started.servers.drain())
        await until(lambda: started.servers._gate.draining)
        assert not drain.done()
        go.set()
        assert (await request)[0] == 200
        await asyncio.wait_for(drain, 2)


def test_the_drain_has_five_seconds() -> None:
    assert module.DRAIN_SECONDS == 5.0


async def test_a_drain_ends_although_a_request_does_not() -> None:
    gate = Gate()
    with gate.request():
        assert await asyncio.wait_for(gate.drain(0.05), 2) == 1


async def test_a_drain_without_requests_ends_at_once() -> None:
    assert await asyncio.wait_for(Gate().drain(60), 2) == 0


async def test_after_stop_both_ports_are_closed() -> None:
    async with running(management=True) as started:
        await started.servers.stop()
        assert not connects(port_of(started.data))
        assert not connects(port_of(started.management))


async def test_stop_closes_idle_connections_at_once() -> None:
    async with running(management=False) as started:
        await started.get(started.data + "/")
        await asyncio.wait_for(started.servers.stop(), 2)


async def test_stop_is_bounded_although_a_request_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.GRACE_SECONDS == 5.0
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.2)
    health, asked, _ = slow_health()
    async with running(health, management=False) as started:
        request = asyncio.create_task(started.get(started.data + "/health/ready"))
        await asked.wait()
        began = time.monotonic()
        await started.servers.stop()
        assert time.monotonic() - began < 2
        await asyncio.gather(request, return_exceptions=True)


async def test_stop_before_start_and_stop_twice_do_nothing() -> None:
    servers = Servers(server_config(free_port(), free_port()), Health(), Metrics("1"))
    await servers.stop()
    async with running(management=True) as started:
        await started.servers.stop()
        await started.servers.stop()


@pytest.mark.parametrize(
    ("taken", "names"),
    [
        ("http", "server.httpPort (QUEUEBOX_SERVER_HTTPPORT): port {}"),
        ("management", "server.managementPort (QUEUEBOX_SERVER_MANAGEMENTPORT): port {}"),
    ],
)
async def test_a_port_in_use_is_named_with_its_setting(taken: str, names: str) -> None:
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        ports = (port, free_port()) if taken == "http" else (free_port(), port)
        servers = Servers(server_config(*ports), Health(), Metrics("1"))
        with pytest.raises(Misconfigured) as raised:
            await servers.start()
        await servers.stop()
    assert str(raised.value) == f"{names.format(port)} cannot be opened: Address already in use"
    assert raised.value.__suppress_context__


async def test_a_failed_start_leaves_no_port_open_after_stop() -> None:
    with socket.create_server(("", 0)) as other:
        management = free_port()
        servers = Servers(server_config(other.getsockname()[1], management), Health(), Metrics("1"))
        with pytest.raises(Misconfigured):
            await servers.start()
        assert connects(management)
        await servers.stop()
    assert not connects(management)
