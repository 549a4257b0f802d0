"""Connections for the statements of a store: set up for plans that stay flat, bounded in time, failures as `Unavailable`."""

import os
import socket
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakSet

import psycopg
from psycopg import AsyncConnection

from queuebox_agent.domain.redact import redact
from queuebox_agent.errors import Unavailable
from queuebox_agent.store.postgres.connect import Pool
from queuebox_agent.store.postgres.names import OutboxNames, statement

Record = tuple[object, ...]


class Session:
    """One borrowed connection."""

    def __init__(self, connection: AsyncConnection, names: OutboxNames, *, prepare: bool) -> None:
        self.connection = connection
        self._names = names
        self._prepare = prepare

    async def fetch(self, name: str, **values: object) -> list[Record]:
        """Run `sql/<name>.sql` and return its rows."""
        cursor = await self.connection.execute(statement(name, self._names), values, prepare=self._prepare, binary=True)
        return await cursor.fetchall()


class Sessions:
    """Lends connections of a pool. `generation` grows with every connection that was not seen before: what was learned
    from the server before that may be wrong, since the new connection may lead to another server (a failover).
    """

    def __init__(self, pool: Pool, names: OutboxNames, *, prepare: bool, seconds: float) -> None:
        self.generation = 0
        self._pool = pool
        self._names = names
        self._prepare = prepare
        self._seconds = seconds
        self._seen: WeakSet[AsyncConnection] = WeakSet()

    @asynccontextmanager
    async def borrow(self, seconds: float | None = None) -> AsyncIterator[Session]:
        """A connection for at most `seconds`, by default those of the store. Raises Unavailable for whatever the
        driver raises inside.
        """
        try:
            async with self._pool.connection(seconds) as connection:
                with _cut_after(connection, seconds or self._seconds):
                    session = Session(connection, self._names, prepare=self._prepare)
                    if connection not in self._seen:
                        await self._meet(session)
                    yield session
        except psycopg.Error as error:
            raise Unavailable(f"the database: {_first_line(error)}") from None

    async def _meet(self, session: Session) -> None:
        self.generation += 1
        if self._prepare:  # behind a pooler a setting would stay on a connection that others get
            await session.fetch("session", statement_timeout=str(int(self._seconds * 1000)))
        self._seen.add(session.connection)


@contextmanager
def _cut_after(connection: AsyncConnection, seconds: float) -> Iterator[None]:
    """End a wait for a server that does not answer. A cancelled query would first ask the same server, for up to 10 s."""
    timer = get_running_loop().call_later(seconds, _cut, connection)
    try:
        yield
    finally:
        timer.cancel()


def _cut(connection: AsyncConnection) -> None:
    with socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


def _first_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return redact(lines[0]) if lines else type(error).__name__
