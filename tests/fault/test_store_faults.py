"""The outbox store when its connection dies inside a statement, when the server freezes, restarts or is away."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from contract.outbox_store import claim_one, claimed_soon, deliver, settle
from queuebox_agent.demo.postgres import LocalPostgres
from queuebox_agent.domain.outcome import Delivered
from queuebox_agent.errors import Unavailable
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from services.outbox_table import DEFAULT_NAMES, PostgresTable
from services.schema import apply_migrations
from services.stores import open_pool
from services.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.fault]

LEASE = 60.0
SLOW = """CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
CREATE TRIGGER slow BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.state = '{}') EXECUTE FUNCTION slow()"""
SLEEPING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
KILL = "SELECT pg_terminate_backend(%s)"
KILL_OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
def table(database: str) -> Iterator[PostgresTable]:
    with PostgresTable(database) as table:
        yield table


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresOutbox]:
    async with open_pool(database) as pool:
        yield PostgresOutbox(pool, DEFAULT_NAMES, LEASE, timeout_seconds=2)


def slow_down(table: PostgresTable, state: str) -> None:
    """Let every write of that state take a minute."""
    table.connection.execute(SLOW.replace("{}", state).encode())


async def kill_the_sleeper(table: PostgresTable) -> None:
    pid = await sleeper(table)
    table.connection.execute(KILL, [pid])
    table.connection.execute("DROP TRIGGER slow ON outbox")


async def sleeper(table: PostgresTable) -> int:
    found: list[tuple[int]] = []

    def sleeps() -> bool:
        found.extend(table.connection.execute(SLEEPING).fetchall())
        return bool(found)

    await until(sleeps, 5, "a statement sleeps")
    return found[0][0]


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_connection_that_dies_inside_a_claim_leaves_the_row_as_it_was(
    store: PostgresOutbox, table: PostgresTable, key: str | None
) -> None:
    id_ = table.insert(key=key)
    slow_down(table, "processing")
    claim = asyncio.create_task(store.claim(10))
    await kill_the_sleeper(table)
    with pytest.raises(Unavailable):
        await claim
    assert table.read(id_).state == "pending"
    assert await claimed_soon(store) == [id_]


async def test_a_connection_that_dies_inside_a_settlement_writes_nothing_of_it(
    store: PostgresOutbox, table: PostgresTable
) -> None:
    table.fill(3)
    rows = await store.claim(10)
    slow_down(table, "sent")
    settling = asyncio.create_task(settle(store, Delivered(), *rows))
    await kill_the_sleeper(table)
    with pytest.raises(Unavailable):
        await settling
    assert {table.read(row.claim.id).state for row in rows} == {"processing"}
    await deliver(store, *rows)


async def test_a_server_that_freezes_inside_a_statement_is_given_up_in_time(
    store: PostgresOutbox, table: PostgresTable
) -> None:
    id_ = table.insert()
    slow_down(table, "processing")
    began = time.monotonic()
    claim = asyncio.create_task(store.claim(1))
    pid = await sleeper(table)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(Unavailable):
            await claim
        assert time.monotonic() - began < 5
    finally:
        table.connection.execute(KILL, [pid])
        os.kill(pid, signal.SIGCONT)
    await until(lambda: not table.connection.execute(SLEEPING).fetchall(), 10)
    table.connection.execute("DROP TRIGGER slow ON outbox")
    assert await claimed_soon(store) == [id_]


async def test_a_statement_that_takes_too_long_is_ended_by_the_server_too(
    store: PostgresOutbox, table: PostgresTable
) -> None:
    table.insert()
    slow_down(table, "processing")
    with pytest.raises(Unavailable):
        await store.claim(1)
    await until(lambda: not table.connection.execute(SLEEPING).fetchall(), 5, "nothing runs on the server")


async def test_a_claim_that_is_cancelled_leaves_the_store_usable(store: PostgresOutbox, table: PostgresTable) -> None:
    id_ = table.insert(key="k")
    slow_down(table, "processing")
    claim = asyncio.create_task(store.claim(1))
    await sleeper(table)
    claim.cancel()
    with pytest.raises(asyncio.CancelledError):
        await claim
    table.connection.execute("DROP TRIGGER slow ON outbox")
    assert await claimed_soon(store) == [id_]


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_costs_errors_and_no_row(own_postgres: LocalPostgres, mode: str) -> None:
    apply_migrations(own_postgres.url)
    with PostgresTable(own_postgres.url) as table:
        ids = [table.insert(key="k") for _ in range(3)]
    async with open_pool(own_postgres.url) as pool:
        store = PostgresOutbox(pool, DEFAULT_NAMES, LEASE)
        held = (await store.claim(1))[0]
        own_postgres.restart(mode)
        with pytest.raises(Unavailable):
            await store.renew([held.claim])

        async def delivered() -> bool:
            try:
                return bool(await settle(store, Delivered(), held))
            except Unavailable:
                return False

        await until(delivered, 20, "the outcome is written")
        assert await claimed_soon(store) == ids[1:]


async def test_a_server_that_is_away_is_unavailable_within_the_bound_of_a_ping(own_postgres: LocalPostgres) -> None:
    apply_migrations(own_postgres.url)
    async with open_pool(own_postgres.url) as pool:
        store = PostgresOutbox(pool, DEFAULT_NAMES, LEASE)
        await store.ping()
        own_postgres.stop("immediate")
        began = time.monotonic()
        with pytest.raises(Unavailable):
            await store.ping()
        assert time.monotonic() - began < 3


async def test_a_server_that_became_read_only_is_unavailable(store: PostgresOutbox, table: PostgresTable) -> None:
    table.insert()
    await claim_one(store)
    table.insert()
    name = table.connection.info.dbname
    table.connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    table.connection.execute(KILL_OTHERS)
    reasons: list[str] = []

    async def refused() -> bool:
        with suppress_unavailable(reasons):
            await store.claim(1)
        return any("read-only" in reason for reason in reasons)

    await until(refused, 10, "a new connection is refused the write")


@contextmanager
def suppress_unavailable(reasons: list[str]) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        reasons.append(str(error))
