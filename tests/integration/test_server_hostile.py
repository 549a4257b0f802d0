"""Clients that do not speak HTTP, or speak it slowly."""

import asyncio
import logging
import socket

import pytest

from queuebox_agent.server import servers as module
from services.http_servers import running


async def answer_to(address: str, sent: bytes, seconds: float = 5) -> bytes:
    """All that comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rsplit(":", 1)[1]))
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), seconds)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 9000 + b"\r\n\r\n",
        b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X-Many: x\r\n" * 200 + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    ],
    ids=["long header", "long path", "many headers", "TLS", "two lengths", "endless length"],
)
async def test_a_malformed_request_is_400_and_does_not_fill_the_log(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with running(management=False) as started:
        assert (await answer_to(started.data, sent)).startswith(b"HTTP/1.0 400 ")
        assert (await started.get(started.data + "/"))[0] == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "])
async def test_a_client_that_does_not_finish_its_head_is_disconnected(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    assert module.IDLE_SECONDS == 75
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.1)
    async with running(management=False) as started:
        assert await answer_to(started.data, sent) == b""


async def test_the_ports_are_open_for_ipv6() -> None:
    if not ipv6():
        pytest.skip("this machine has no IPv6")
    async with running(management=False) as started:
        assert (await started.get(started.data.replace("127.0.0.1", "[::1]") + "/"))[0] == 200


def ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False
