"""Connections to the API server."""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
from aiohttp.client_middlewares import ClientMiddlewareType

from queuebox_operator.kube.credentials import Credentials

TOKEN_SECONDS = 60.0
"""A token is read again after so long: a mounted one is replaced long before it expires."""
LOOK_SECONDS = 0.01
SILENCE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}
"""A connection notices within 25 s that nobody is there any more. Names that a system does not have are left out."""


class Sockets:
    """Makes the sockets of a session, and knows which of them are open still."""

    def __init__(self) -> None:
        self._made: WeakSet[socket.socket] = WeakSet()

    def make(self, address: tuple[Any, ...]) -> socket.socket:
        """One that notices when nobody is at the other end any more."""
        made = socket.socket(*address[:3])
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in SILENCE.items():
            if hasattr(socket, name):
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self._made.add(made)
        return made

    async def closed(self, seconds: float) -> None:
        """Until none is open: a closed session still says goodbye to its peers. After so many seconds return anyway."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while any(made.fileno() != -1 for made in self._made):  # noqa: ASYNC110  nothing tells of a socket's end
                    await asyncio.sleep(LOOK_SECONDS)


def open_session(
    credentials: Credentials, *middlewares: ClientMiddlewareType, sockets: Sockets | None = None
) -> aiohttp.ClientSession:
    """A session whose paths are those of the API server; requests that it sends carry the token of the moment."""
    factory = (sockets or Sockets()).make
    connector = aiohttp.TCPConnector(ssl=credentials.tls, limit=0, socket_factory=factory)
    return aiohttp.ClientSession(
        credentials.server,
        connector=connector,
        middlewares=(_authorized(credentials.token), *middlewares),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def _authorized(read: Callable[[], str]) -> ClientMiddlewareType:
    token, read_at = read(), time.monotonic()

    async def authorized(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        nonlocal token, read_at
        if time.monotonic() - read_at > TOKEN_SECONDS:
            token, read_at = read(), time.monotonic()
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        return await handler(request)

    return authorized
