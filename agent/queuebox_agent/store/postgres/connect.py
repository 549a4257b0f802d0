"""The way to the database: the connection string, the wait at start and the pool."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from queuebox_agent.domain.redact import redact
from queuebox_agent.errors import Misconfigured, Unavailable
from queuebox_agent.store.postgres.url import libpq_parameters
from queuebox_api.config import DatabaseConfig

log = logging.getLogger(__name__)

Pool = AsyncConnectionPool[AsyncConnection]
Configure = Callable[[AsyncConnection], Awaitable[None]]

# A dead peer is noticed within a minute, whether QueueBox waits for it or writes to it. The URL may say otherwise.
DEFAULTS = {
    "application_name": "queuebox",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
IDLE_CONNECTIONS = 2
RECONNECT_SECONDS = 2.0


def conninfo(database: DatabaseConfig) -> str:
    """The libpq connection string, which holds the password. Raises Misconfigured for a URL that cannot be used.

    `database.username` and `database.password` win over what the URL says.
    """
    parameters = DEFAULTS | libpq_parameters(database.url.get_secret_value())
    if "," in parameters.get("host", ""):
        parameters.setdefault("target_session_attrs", "read-write")  # a standby can serve no claim
    # Payloads and migrations are read and written as such, whatever the URL says.
    parameters["client_encoding"] = "UTF8"
    if database.username:
        parameters["user"] = database.username
    if database.password and database.password.get_secret_value():
        parameters["password"] = database.password.get_secret_value()
    return make_conninfo("", **parameters)


async def wait_for_database(conninfo: str, startup_timeout_ms: int) -> None:
    """Return when the database answers a query; raises Unavailable with the last reason after `startup_timeout_ms`.

    Raises Misconfigured at once for a connection string that no try can make work. A wrong password and an unknown
    database are tried again like everything else: both may be made right meanwhile.
    """
    reason = "no connection could be made"
    try:
        async with asyncio.timeout(startup_timeout_ms / 1000):
            for pause in _pauses():
                refusal = await _refusal(conninfo)
                if refusal is None:
                    return
                reason = refusal
                log.warning("the database does not answer yet", extra={"reason": reason, "nextTrySeconds": pause})
                await asyncio.sleep(pause)
    except TimeoutError:
        raise Unavailable(f"the database did not answer within {startup_timeout_ms} ms: {reason}") from None


async def open_pool(conninfo: str, database: DatabaseConfig, configure: Configure | None = None) -> Pool:
    """An open pool of autocommit, READ COMMITTED connections, at most `database.poolSize`.

    `configure` is awaited once per new connection, for settings of the session. A connection that cannot be had within
    `database.connectionTimeoutMs` is a PoolTimeout, which is a psycopg.OperationalError. Raises Unavailable when the
    first connections cannot be made.
    """

    async def prepare(connection: AsyncConnection) -> None:
        await connection.execute("SET default_transaction_isolation = 'read committed'")
        if configure:
            await configure(connection)

    pool = Pool(
        conninfo,
        name="queuebox",
        open=False,
        kwargs={"autocommit": True},
        configure=prepare,
        min_size=min(IDLE_CONNECTIONS, database.pool_size),
        max_size=database.pool_size,
        timeout=database.connection_timeout_ms / 1000,
        reconnect_timeout=RECONNECT_SECONDS,
        reconnect_failed=_try_again,
    )
    try:
        await pool.open(wait=True, timeout=database.connection_timeout_ms / 1000)
    except PoolTimeout:
        raise Unavailable(f"no connection to the database within {database.connection_timeout_ms} ms") from None
    return pool


@contextmanager
def plain_connection(conninfo: str) -> Iterator[psycopg.Connection]:
    """One plain autocommit connection for the work of the start; not for the event loop's thread.

    Raises Unavailable when the connection is not made or is lost, Misconfigured for what the database refuses.
    """
    try:
        with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
            connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            yield connection
    except psycopg.OperationalError as error:
        raise Unavailable(f"the database: {without_password(error, conninfo)}") from None
    except psycopg.Error as error:
        raise Misconfigured(f"the database: {without_password(error, conninfo)}") from None


async def _try_again(pool: Pool) -> None:
    # The pool's pauses double without a bound, and when it gives up it leaves those alone who wait for a connection.
    # Given up early and begun anew it is back within a second or two. A check begins a connection where one is missing.
    await pool.check()


async def _refusal(conninfo: str) -> str | None:
    """Why the database does not answer, without the password; None when it does."""
    try:
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute("SELECT 1")
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:  # the driver says so, not the server
            raise Misconfigured(f"database.url: {without_password(error, conninfo)}") from None
        return without_password(error, conninfo)
    except psycopg.Error as error:
        return without_password(error, conninfo)
    return None


def without_password(error: psycopg.Error, conninfo: str) -> str:
    """The text of a driver's error on one line, safe to show."""
    text = " ".join(str(error).split())
    password = conninfo_to_dict(conninfo).get("password")
    return redact(text, [str(password)] if password else [])


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)
