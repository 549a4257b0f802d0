"""No request body above inbox.maxBodyBytes (spec page 27, edge-cases 2.11)."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, web

from queuebox_agent.demo.postgres import free_port
from queuebox_agent.server.data import data_application
from queuebox_agent.server.gate import Gate
from services.http_servers import MAX_BODY, Running, running

TOO_LARGE = (413, '{"error":"Request body exceeds 100 bytes"}')


@pytest.fixture
async def servers() -> AsyncIterator[Running]:
    async with running(management=False) as started:
        yield started


@pytest.fixture
async def reading_route() -> AsyncIterator[str]:
    """The address of a data port with a route that reads its body and answers its length."""

    async def read(request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    runner = web.AppRunner(data_application([web.post("/read", read)], Gate(), MAX_BODY))
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{port}/read"
    await runner.cleanup()


async def pieces(total: int) -> AsyncIterator[bytes]:
    """A body of unknown length."""
    for _ in range(total):
        yield b"x"


async def request(url: str, method: str, body: bytes | AsyncIterator[bytes]) -> tuple[int, str]:
    async with ClientSession() as client, client.request(method, url, data=body) as answered:
        return answered.status, await answered.text()


@pytest.mark.parametrize("path", ["/", "/health/ready", "/metrics", "/nothing"])
async def test_a_declared_length_above_the_cap_is_413_on_every_path(servers: Running, path: str) -> None:
    assert await request(servers.data + path, "POST", b"x" * (MAX_BODY + 1)) == TOO_LARGE


async def test_a_declared_length_of_exactly_the_cap_passes(servers: Running) -> None:
    status, _ = await request(servers.data + "/", "GET", b"x" * MAX_BODY)
    assert status == 200


async def test_the_length_is_checked_before_the_drain(servers: Running) -> None:
    await servers.servers.drain()
    assert await request(servers.data + "/", "POST", b"x" * (MAX_BODY + 1)) == TOO_LARGE


async def test_a_lie_about_the_length_needs_no_body_to_be_refused(servers: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(servers.data.rsplit(":", 1)[1]))
    writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n")
    status = await asyncio.wait_for(reader.readline(), 2)
    writer.close()
    assert status.startswith(b"HTTP/1.1 413 ")


async def test_a_body_without_a_length_is_counted(reading_route: str) -> None:
    assert await request(reading_route, "POST", pieces(MAX_BODY + 1)) == TOO_LARGE


async def test_a_body_without_a_length_of_exactly_the_cap_passes(reading_route: str) -> None:
    assert await request(reading_route, "POST", pieces(MAX_BODY)) == (200, str(MAX_BODY))


async def test_a_compressed_body_is_counted_as_it_unpacks(reading_route: str) -> None:
    async with ClientSession() as client:
        headers = {"Content-Encoding": "gzip"}
        async with client.post(reading_route, data=b"x" * 100_000, headers=headers) as answered:
            assert (answered.status, await answered.text()) == TOO_LARGE


async def test_the_refusal_is_json(servers: Running) -> None:
    async with ClientSession() as client, client.post(servers.data + "/", data=b"x" * 200) as answered:
        assert answered.content_type == "application/json"
        assert json.loads(await answered.text()) == {"error": "Request body exceeds 100 bytes"}
