"""A real HTTP receiver with faults.

`async with Receiver() as receiver` runs in the process of a test. `with receiver_process() as receiver` is a process of
its own, which answers 204 and can be told to close idle connections while the event loop of the test stands still.
"""

import asyncio
import json
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Request:
    """What came, unchanged: raw headers in their order, bytes of the body, and on which connection (1, 2, …)."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    connection: int

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        found = self.all(name)
        assert len(found) <= 1, f"{name} came {len(found)} times"
        return found[0] if found else None


@dataclass(slots=True)
class Exchange:
    """One request and the connection to answer on."""

    request: Request
    writer: asyncio.StreamWriter
    receiver: "Receiver"

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()


Behaviour = Callable[[Exchange], Awaitable[None]]


def answer(
    status: int = 204, body: bytes = b"", headers: Mapping[str, str] | None = None, phrase: str = "Said"
) -> Behaviour:
    """A whole answer; the connection stays open."""
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    if status != 204:
        lines.append(f"Content-Length: {len(body)}")
    return raw("\r\n".join([*lines, "", ""]).encode() + body)


def raw(*parts: bytes) -> Behaviour:
    """These bytes as they are, one write for each part."""

    async def behave(exchange: Exchange) -> None:
        for part in parts:
            await exchange.send(part)

    return behave


def json_answer(value: object, status: int = 200) -> Behaviour:
    return answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


def then_close(first: Behaviour) -> Behaviour:
    """Behave, then close the connection without saying so before."""

    async def behave(exchange: Exchange) -> None:
        await first(exchange)
        exchange.writer.close()

    return behave


def endless(status: int, chunk: bytes = b"x" * 1024) -> Behaviour:
    """A body that never ends."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 %d Said\r\nContent-Length: 999999999999\r\n\r\n" % status)
        while True:
            await exchange.send(chunk)

    return behave


def stalling(status: int, beginning: bytes = b"") -> Behaviour:
    """A head and the beginning of a body whose rest never comes."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 %d Said\r\nContent-Length: 1000000\r\n\r\n%b" % (status, beginning))
        await hang(exchange)

    return behave


async def hang(exchange: Exchange) -> None:
    """No answer at all."""
    exchange.receiver.hanging += 1
    await exchange.receiver.closing.wait()


async def reset(exchange: Exchange) -> None:
    """The request was read, then the connection is reset."""
    _reset(exchange.writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@dataclass(slots=True)
class Receiver:
    """Answers with the next of `planned`, and with `usual` when nothing is planned."""

    usual: Behaviour = field(default_factory=answer)
    tls: SSLContext | None = None
    resets_at_once: bool = False
    """Reset each connection before anything is read of it."""
    port: int = 0
    keeps: bool = True
    """Keep the requests; a receiver under load counts them only."""
    planned: deque[Behaviour] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    count: int = 0
    connections: int = 0
    hanging: int = 0
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _serving: set["asyncio.Task[None]"] = field(default_factory=set)
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Listen no more and close every connection."""
        assert self._server is not None
        self.closing.set()
        self._server.close()
        await self.close_connections()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def last(self) -> Request:
        return self.requests[-1]

    @property
    def open_connections(self) -> int:
        return len(self._open)

    def plan(self, *behaviours: Behaviour) -> None:
        self.planned.extend(behaviours)

    async def close_connections(self) -> None:
        """Close what is open, as a receiver does with connections that idle for too long."""
        writers = list(self._open)
        for writer in writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self._open.add(writer)
        self.connections += 1
        number = self.connections
        try:
            if self.resets_at_once:
                _reset(writer)
                return
            while not writer.is_closing():
                await self._answer(await _read(reader, number), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            if not self.closing.is_set():
                raise
        finally:
            self._open.discard(writer)
            self._serving.discard(task)
            writer.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.count += 1
        if self.keeps:
            self.requests.append(request)
        behaviour = self.planned.popleft() if self.planned else self.usual
        await behaviour(Exchange(request, writer, self))


async def _read(reader: asyncio.StreamReader, connection: int) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    body = await reader.readexactly(int(lengths[0])) if lengths else b""
    return Request(method, target, headers, body, connection)


@dataclass(frozen=True, slots=True)
class ReceiverProcess:
    """A receiver that goes on while the event loop of the test stands still. Its methods block."""

    program: subprocess.Popen[str]
    url: str

    def close_connections(self) -> None:
        """Return when every open connection has been closed by the receiver."""
        self._ask("close")

    def count(self) -> int:
        """How many requests came."""
        return int(self._ask("count"))

    def _ask(self, command: str) -> str:
        assert self.program.stdin
        assert self.program.stdout
        self.program.stdin.write(f"{command}\n")
        self.program.stdin.flush()
        return self.program.stdout.readline().strip()


@contextmanager
def receiver_process() -> Iterator[ReceiverProcess]:
    with subprocess.Popen(
        [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout
        yield ReceiverProcess(program, program.stdout.readline().strip())
        assert program.stdin
        program.stdin.close()


async def _main() -> None:
    """Say the URL, then obey the lines of standard input until they end."""
    async with Receiver(keeps=False) as receiver:
        say(receiver.url)
        loop = asyncio.get_running_loop()
        while command := await loop.run_in_executor(None, sys.stdin.readline):
            if command.strip() == "close":
                await receiver.close_connections()
            say(str(receiver.count))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main())
