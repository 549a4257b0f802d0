"""The way to the database: the wait at start and the pool (spec pages 20 and 24, edge-cases 5.4)."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout

from queuebox_agent.demo.postgres import LocalPostgres, free_port
from queuebox_agent.errors import Misconfigured, Unavailable
from queuebox_agent.store.postgres.connect import (
    Pool,
    _pauses,
    conninfo,
    open_pool,
    wait_for_database,
    without_password,
)
from services.schema import database_config
from services.waiting import until

pytestmark = pytest.mark.postgres

NOT_READ = "postgresql://localhost/unused"


@asynccontextmanager
async def pool_of(url: str, **settings: object) -> AsyncIterator[Pool]:
    pool = await open_pool(url, database_config(NOT_READ, **settings))
    try:
        yield pool
    finally:
        await pool.close()


async def shown(pool: Pool, setting: str) -> object:
    async with pool.connection() as connection:
        row = await (await connection.execute("SELECT current_setting(%s)", [setting])).fetchone()
    return row and row[0]


def test_pauses_double_from_half_a_second_to_five() -> None:
    assert list(islice(_pauses(), 6)) == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


async def test_a_database_that_answers_is_not_waited_for(empty_database: str) -> None:
    await asyncio.wait_for(wait_for_database(empty_database, 5_000), 5)


async def test_a_database_that_comes_later_is_waited_for_and_each_try_is_logged(
    own_postgres: LocalPostgres, caplog: pytest.LogCaptureFixture
) -> None:
    own_postgres.stop()
    with caplog.at_level(logging.WARNING):
        waiting = asyncio.create_task(wait_for_database(own_postgres.url, 30_000))
        await until(lambda: any("does not answer yet" in record.message for record in caplog.records))
        await asyncio.to_thread(own_postgres.start)
        await waiting
    assert "Connection refused" in vars(caplog.records[0])["reason"]


async def test_the_wait_ends_with_the_budget_and_says_why() -> None:
    target = make_conninfo("", host="127.0.0.1", port=free_port(), user="app", dbname="box")
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"did not answer within 700 ms: .*Connection refused"):
        await wait_for_database(target, 700)
    assert 0.7 <= time.monotonic() - began < 2


async def test_a_try_that_hangs_is_bounded_by_what_is_left_of_the_budget() -> None:
    released = asyncio.Event()

    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(Unavailable, match="within 300 ms: no connection could be made"):
        await asyncio.wait_for(wait_for_database(make_conninfo("", host="127.0.0.1", port=port), 300), 5)
    released.set()
    server.close()
    await server.wait_closed()


async def test_an_unknown_database_is_reported_at_the_end(postgres_url: str) -> None:
    with pytest.raises(Unavailable, match='database "nowhere" does not exist'):
        await wait_for_database(make_conninfo(postgres_url, dbname="nowhere"), 300)


@pytest.fixture
def guarded_postgres(own_postgres: LocalPostgres) -> Iterator[LocalPostgres]:
    """A server that asks for a password."""
    with psycopg.connect(own_postgres.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE app LOGIN PASSWORD 'right'")
        row = connection.execute("SHOW hba_file").fetchone()
        assert row is not None
        Path(row[0]).write_text("host all all 127.0.0.1/32 scram-sha-256\n", "utf-8")
        connection.execute("SELECT pg_reload_conf()")
        yield own_postgres


async def test_a_wrong_password_is_reported_and_not_shown(guarded_postgres: LocalPostgres) -> None:
    target = make_conninfo(guarded_postgres.url, user="app", password="hunter2")
    with pytest.raises(Unavailable, match="password authentication failed for user") as failure:
        await wait_for_database(target, 300)
    assert "hunter2" not in str(failure.value)
    assert failure.value.__cause__ is None


def test_a_short_password_is_not_told_by_the_words_that_it_masks() -> None:
    error = psycopg.OperationalError('database "x" does not exist')
    assert without_password(error, "password=x") == 'database "x" does not exist'


def test_a_password_in_the_text_of_a_driver_is_masked() -> None:
    assert without_password(psycopg.OperationalError("bad hunter2"), "password=hunter2") == "bad ***"


async def test_a_connection_string_that_no_try_can_make_work_ends_the_wait_at_once() -> None:
    with pytest.raises(Misconfigured, match="bad value for connect_timeout"):
        await asyncio.wait_for(wait_for_database("connect_timeout=abc", 60_000), 5)


async def test_what_is_no_latin_1_is_read_whatever_the_url_says(empty_database: str) -> None:
    target = conninfo(database_config(f"{empty_database}?client_encoding=latin1"))
    async with pool_of(target) as pool, pool.connection() as connection:
        row = await (await connection.execute(r"SELECT U&'\20AC'")).fetchone()
    assert row == ("€",)


async def test_connections_commit_by_themselves_and_read_what_is_committed(empty_database: str) -> None:
    strict = make_conninfo(empty_database, options=r"-c default_transaction_isolation=serializable")
    async with pool_of(strict) as pool, pool.connection() as connection:
        assert connection.autocommit
        row = await (await connection.execute("SHOW transaction_isolation")).fetchone()
        assert row == ("read committed",)


async def test_each_new_connection_is_configured(empty_database: str) -> None:
    async def configure(connection: psycopg.AsyncConnection) -> None:
        await connection.execute("SET jit = off")

    pool = await open_pool(empty_database, database_config(NOT_READ), configure)
    try:
        assert await shown(pool, "jit") == "off"
    finally:
        await pool.close()


async def test_the_pool_holds_at_most_pool_size_connections(empty_database: str) -> None:
    async with pool_of(empty_database, poolSize=1, connectionTimeoutMs=200) as pool, pool.connection():
        with pytest.raises(psycopg.OperationalError):
            await pool.getconn()


async def test_a_pool_that_cannot_connect_is_unavailable(empty_database: str) -> None:
    with pytest.raises(Unavailable, match="no connection to the database within 300 ms"):
        await open_pool(
            make_conninfo(empty_database, port=free_port()), database_config(NOT_READ, connectionTimeoutMs=300)
        )


async def test_who_waits_through_an_outage_is_served_soon_after_it(
    own_postgres: LocalPostgres, caplog: pytest.LogCaptureFixture
) -> None:
    async with pool_of(own_postgres.url, connectionTimeoutMs=60_000) as pool:
        await asyncio.to_thread(own_postgres.stop, "immediate")
        await until(lambda: _empty(pool))
        waiting = asyncio.create_task(shown(pool, "jit"))
        given_up = "failed after"
        await until(lambda: given_up in caplog.text, 20, "the pool's giving up")
        await asyncio.to_thread(own_postgres.start)
        assert await asyncio.wait_for(waiting, 5) == "on"


async def _empty(pool: Pool) -> bool:
    """Whether no connection is left, not even a dead one."""
    try:
        async with pool.connection(timeout=0.2) as connection:
            await connection.execute("SELECT 1")
    except PoolTimeout:
        return True
    except psycopg.OperationalError:
        pass
    return False
