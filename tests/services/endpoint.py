"""A receiver that a test tells how to answer, message by message."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from queuebox_agent.demo.postgres import free_port
from services.waiting import until


@dataclass(frozen=True, slots=True)
class Message:
    id: str
    topic: str
    attempt: int
    key: str | None
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


Answer = Callable[[Message], Awaitable[int | None]]
"""The status to answer with; None drops the connection."""


async def accept(_: Message) -> int | None:
    return 200


@dataclass
class Endpoint:
    """`taken` holds what was answered with 2xx, in order; `begun` everything that arrived."""

    url: str
    answer: Answer = accept
    begun: list[Message] = field(default_factory=list)
    taken: list[Message] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    async def has_taken(self, count: int, seconds: float = 20.0) -> None:
        """Return when so many different messages were taken."""
        await until(lambda: len(self.ids) >= count, seconds, f"{count} different messages (there are {len(self.ids)})")

    @property
    def ids(self) -> set[str]:
        return {message.id for message in self.taken}

    def steps(self, key: str | None) -> list[int]:
        """The field `n` of the bodies of a key, first arrivals only."""
        first: dict[str, int] = {}
        for message in self.taken:
            if message.key == key:
                first.setdefault(message.id, message.body["n"])
        return list(first.values())

    async def handle(self, request: web.Request) -> web.Response:
        headers = request.headers
        message = Message(
            headers["X-Message-Id"],
            headers["X-Topic"],
            int(headers["X-Attempt"]),
            headers.get("X-Message-Key"),
            await request.text(),
        )
        self.begun.append(message)
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        try:
            status = await self.answer(message)
        finally:
            self.open -= 1
        if status is None:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if 200 <= status < 300:
            self.taken.append(message)
        return web.Response(status=status)


@asynccontextmanager
async def endpoint(answer: Answer = accept, port: int | None = None) -> AsyncIterator[Endpoint]:
    port = port or free_port()
    running = Endpoint(f"http://127.0.0.1:{port}", answer)
    application = web.Application(client_max_size=2**24)
    application.add_routes([web.post("/{path:.*}", running.handle)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield running
    finally:
        await runner.cleanup()


class Gate:
    """Holds answers back until it is opened."""

    def __init__(self) -> None:
        self._open = asyncio.Event()

    def open(self) -> None:
        self._open.set()

    async def __call__(self, _: Message) -> int | None:
        await self._open.wait()
        return 200
