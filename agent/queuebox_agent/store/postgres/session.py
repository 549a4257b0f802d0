"""Connections for a store: set up for plans that stay flat, bounded in time, every failure in its family."""

import os
import socket
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import AsyncConnection

from queuebox_agent.domain.redact import redact
from queuebox_agent.errors import Misconfigured, Rejected, Retryable, Unavailable
from queuebox_agent.store.postgres.connect import Pool
from queuebox_agent.store.postgres.names import OutboxNames, statement

Record = tuple[Any, ...]
INVALID_TRANSACTION_STATE = "25"
"""The class of errors of a server that is read-only after a failover, or that ended a transaction by itself."""


class Session:
    """A borrowed connection that runs statement files."""

    def __init__(self, connection: AsyncConnection, names: OutboxNames, *, prepare: bool) -> None:
        self.connection = connection
        self._names = names
        self._prepare = prepare

    @property
    def charset(self) -> str:
        """An encoding of which the server can hold every character."""
        return "utf-8" if self.connection.info.parameter_status("server_encoding") == "UTF8" else "ascii"

    async def fetch(self, name: str, **values: object) -> list[Record]:
        """Run `sql/<name>.sql` and return its rows."""
        text = statement(name, self._names)
        cursor = await self.connection.execute(text, values, prepare=self._prepare, binary=True)
        return await cursor.fetchall()


class Sessions:
    """Lends the connections of a pool.

    `prepare`: prepared statements and settings of the session; neither works behind a pooler that hands connections
    around. `seconds`: the bound of one use.
    """

    def __init__(self, pool: Pool, names: OutboxNames, *, prepare: bool, seconds: float) -> None:
        self.generation = 0
        """Grows with every new connection. It may lead to another server than the ones before (a failover), so what
        was learned from those may be wrong.
        """
        self._pool = pool
        self._names = names
        self._prepare = prepare
        self._seconds = seconds
        self._met: WeakSet[AsyncConnection] = WeakSet()

    @asynccontextmanager
    async def borrow(self, seconds: float | None = None) -> AsyncIterator[Session]:
        """A connection, for at most `seconds`. Whatever the driver raises inside comes out as one of our families."""
        try:
            async with self._pool.connection(seconds) as connection:
                with _cut_after(seconds or self._seconds, connection):
                    session = Session(connection, self._names, prepare=self._prepare)
                    if connection not in self._met:
                        await self._meet(session)
                    try:
                        yield session
                    except (psycopg.ProgrammingError, psycopg.NotSupportedError):
                        # What it has prepared may fit the table no more; a new connection prepares anew.
                        await connection.close()
                        raise
        except psycopg.Error as error:
            raise _family(error)(f"the database: {_first_line(error)}") from None

    async def _meet(self, session: Session) -> None:
        self.generation += 1
        if self._prepare:
            await session.fetch("session", statement_timeout=f"{self._seconds * 1000:.0f}")
        self._met.add(session.connection)


@contextmanager
def _cut_after(seconds: float, connection: AsyncConnection) -> Iterator[None]:
    """End a wait for a server that does not answer. To cancel the query would be to ask that same server, for 10 s."""
    timer = get_running_loop().call_later(seconds, _cut, connection)
    try:
        yield
    finally:
        timer.cancel()


def _cut(connection: AsyncConnection) -> None:
    if not connection.closed:
        with socket.socket(fileno=os.dup(connection.fileno())) as same_socket:
            same_socket.shutdown(socket.SHUT_RDWR)


def _family(error: psycopg.Error) -> type[Retryable | Rejected | Misconfigured | Unavailable]:
    """Whether a lock, what a row holds, the schema, or the way to the server is at fault."""
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return Retryable
    if error.sqlstate and error.sqlstate.startswith(INVALID_TRANSACTION_STATE):
        return Unavailable
    if isinstance(error, psycopg.DataError | psycopg.IntegrityError | psycopg.InternalError):
        return Rejected
    if isinstance(error, psycopg.ProgrammingError | psycopg.NotSupportedError):
        return Misconfigured
    return Unavailable


def _first_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return redact(lines[0]) if lines else type(error).__name__
