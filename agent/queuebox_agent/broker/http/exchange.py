"""One POST and its answer on a pool of connections: what aiohttp raises becomes one of the four families here."""

import asyncio
import select
from typing import Final

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    DummyCookieJar,
    InvalidURL,
    TCPConnector,
)
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload
from typing_extensions import override
from yarl import URL

from queuebox_agent.broker.http.address import public_socket
from queuebox_agent.broker.http.headers import JSON, Headers
from queuebox_agent.domain.reason import describe, reason
from queuebox_agent.errors import Retryable, Unavailable

IDLE_SECONDS: Final = 4.0
"""How long a connection may idle in the pool: less than the 5 s after which many servers close it."""
FRESH_TRIES: Final = 3
"""Connections that may turn out closed before a request is written on one of them."""
REST_BYTES: Final = 64 * 1024
REST_SECONDS: Final = 1.0
"""What is read of a good answer to keep its connection; else the connection is closed."""
LONGEST_HEADER: Final = 64 * 1024

# The peer has closed its side. Where the system does not tell, a reset is still seen.
_CLOSED: Final = getattr(select, "POLLRDHUP", 0)


def open_session(connect_seconds: float, *, public_only: bool) -> ClientSession:
    """Open a pool of keep-alive connections without cookies, proxies or redirects. `connect_seconds` bounds the lookup
    of the name, the connection and TLS together; with `public_only` no connection to a private address is made.
    """
    return ClientSession(
        connector=TCPConnector(
            limit=0, keepalive_timeout=IDLE_SECONDS, socket_factory=public_socket if public_only else None
        ),
        timeout=ClientTimeout(total=None, connect=connect_seconds),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
    )


class Body(Payload):
    """The bytes of a request, which knows whether any of them may have left this process.

    The headers of the request wait for its body, so nothing was sent before `write` was.
    """

    _value: bytes
    _autoclose = True

    def __init__(self, content: bytes) -> None:
        super().__init__(content, content_type=JSON)
        self._size = len(content)
        self.begun = False

    @override
    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._value.decode(encoding, errors)

    @override
    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write the bytes, or raise `ConnectionResetError` when the peer has closed the connection already."""
        transport = writer.transport
        if transport is None or transport.is_closing() or _closed_by_peer(transport):
            raise ConnectionResetError("the connection was closed while it was idle")
        self.begun = True
        await writer.write(self._value)


def _closed_by_peer(transport: asyncio.WriteTransport) -> bool:
    """Tell whether the end of the connection has arrived but the event loop has not come to read it yet."""
    connection = transport.get_extra_info("socket")
    if connection is None or not _CLOSED:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), _CLOSED)
    return bool(poll.poll(0))


async def post(
    session: ClientSession, url: URL, headers: Headers, content: bytes, tries: int = FRESH_TRIES
) -> ClientResponse:
    """Send one request and return its answer as soon as the head of it is there; the caller reads or closes it.

    A pooled connection that the peer closed before the request was written costs nothing: another one is taken. As soon
    as a byte may have left, a failure is `Retryable`, because the peer may have acted. Raises `Unavailable` when no
    request could be sent.
    """
    body = Body(content)
    try:
        return await session.post(url, data=body, headers=headers, allow_redirects=False)
    except ConnectionTimeoutError:
        raise Unavailable(f"no connection to {url.host}:{url.port} within {_connect_ms(session)} ms") from None
    except ClientError as error:
        if body.begun:
            raise Retryable(reason(describe(error))) from None
        if tries <= 1 or isinstance(error, ClientConnectorError | InvalidURL):
            raise Unavailable(reason(describe(error))) from None
    return await post(session, url, headers, content, tries - 1)


def _connect_ms(session: ClientSession) -> int:
    return round((session.timeout.connect or 0) * 1000)


async def beginning(response: ClientResponse, most: int, deadline: float) -> bytes:
    """Return what arrives of the body until it ends, until `most` bytes or until `deadline` on the clock of the loop,
    whatever comes first. The connection is kept only when the body ended.
    """
    parts: list[bytes] = []
    left = most
    try:
        async with asyncio.timeout_at(deadline):
            while left > 0 and (part := await response.content.read(left)):
                parts.append(part)
                left -= len(part)
    except (TimeoutError, ClientError):
        pass
    finally:
        if not response.content.at_eof():
            response.close()
    return b"".join(parts)


async def finish(response: ClientResponse) -> None:
    """Give the connection of a good answer back to the pool, when the rest of the body is short and comes soon."""
    if not response.content.is_eof():
        await beginning(response, REST_BYTES, asyncio.get_running_loop().time() + REST_SECONDS)
