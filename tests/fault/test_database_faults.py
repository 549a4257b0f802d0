"""A database that restarts, freezes or drops connections: delivery goes on, nothing is lost, order holds."""

import psycopg
import pytest

from queuebox_agent.demo.postgres import LocalPostgres
from services.agents import agent
from services.endpoint import Endpoint, Message, endpoint
from services.outbox import all_sent, insert_many, states
from services.postgres import in_database
from services.schema import apply_migrations
from services.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.fault]

ROWS, KEYS = 1_000, 50
LEASE = {"OUTBOX_CLAIMTIMEOUTMS": 2000}
VICTIMS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name LIKE 'queuebox%%' AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE %s"""


def in_order(receiver: Endpoint) -> bool:
    return all(receiver.steps(f"k{key}") == list(range(key + 1, ROWS + 1, KEYS)) for key in range(KEYS))


def sent(url: str) -> bool:
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            return all_sent(connection)
    except psycopg.OperationalError:
        return False


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_under_load(own_postgres: LocalPostgres, mode: str) -> None:
    apply_migrations(own_postgres.url)
    async with endpoint() as receiver, agent(own_postgres.url, receiver.url, **LEASE) as process:
        with psycopg.connect(own_postgres.url, autocommit=True) as connection:
            insert_many(connection, ROWS, keys=KEYS)
        await receiver.has_taken(ROWS // 5)
        own_postgres.restart(mode)
        await until(lambda: sent(own_postgres.url), 40, "every row is sent")
        assert process.running
    assert (len(receiver.ids), in_order(receiver)) == (ROWS, True)


async def test_an_agent_is_not_ready_while_the_database_is_away_and_ready_again_after(
    own_postgres: LocalPostgres,
) -> None:
    apply_migrations(own_postgres.url)
    async with endpoint() as receiver, agent(own_postgres.url, receiver.url) as process:
        own_postgres.stop()

        async def not_ready() -> bool:
            return not await process.ready()

        await until(not_ready, 10)
        own_postgres.start()
        await until(process.ready, 20)


async def test_a_frozen_database_stops_neither_the_agent_nor_its_answers(own_postgres: LocalPostgres) -> None:
    apply_migrations(own_postgres.url)
    async with endpoint() as receiver, agent(own_postgres.url, receiver.url, **LEASE) as process:
        own_postgres.freeze()
        try:

            async def not_ready() -> bool:
                return not await process.ready()

            await until(not_ready, 10)
        finally:
            own_postgres.thaw()
        with psycopg.connect(own_postgres.url, autocommit=True) as connection:
            insert_many(connection, 10)
            await until(lambda: all_sent(connection), 45)


async def test_connections_that_die_all_the_time_lose_nothing(database: str, connection: psycopg.Connection) -> None:
    async with endpoint() as receiver, agent(database, receiver.url, **LEASE) as process:
        insert_many(connection, ROWS, keys=KEYS)
        killed = 0

        def kill_and_look() -> bool:
            nonlocal killed
            if killed < 30:
                killed += len(connection.execute(VICTIMS, ("%",)).fetchall())
            return killed >= 30 and all_sent(connection)

        await until(kill_and_look, 60, "every row is sent")
        assert process.running
    assert (len(receiver.ids), in_order(receiver)) == (ROWS, True)


async def test_a_row_that_somebody_has_locked_holds_back_no_other(
    database: str, connection: psycopg.Connection
) -> None:
    with psycopg.connect(database) as lock:

        async def lock_the_first(message: Message) -> int:
            if message.body["n"] == 1:
                lock.execute("SELECT 1 FROM outbox WHERE id = %s FOR UPDATE", (message.id,))
            return 200

        async with endpoint(lock_the_first) as receiver, agent(database, receiver.url) as process:
            insert_many(connection, 500)
            await until(lambda: states(connection) == {"sent": 499, "processing": 1}, 20)
            lock.rollback()
            await until(lambda: all_sent(connection), 20)
            assert await process.metric('queuebox_claims_lost_total{component="outbox"}') == 0
    assert len(receiver.begun) == 500


async def test_a_reason_that_the_database_cannot_hold_is_written_as_it_can(own_postgres: LocalPostgres) -> None:
    async def refuse(_: Message) -> int:
        return 500

    with psycopg.connect(own_postgres.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    url = in_database(own_postgres.url, "latin")
    apply_migrations(url)
    async with endpoint(refuse) as receiver, agent(url, receiver.url, DESTINATIONS_RECEIVER_PATH="/\u20ac"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("INSERT INTO outbox (topic, payload, max_attempts) VALUES ('a', '1', 0)")
            await until(lambda: states(connection) == {"dead": 1})


async def test_a_stop_while_the_database_is_frozen_is_bounded(own_postgres: LocalPostgres) -> None:
    apply_migrations(own_postgres.url)
    async with endpoint() as receiver, agent(own_postgres.url, receiver.url, OUTBOX_SHUTDOWNTIMEOUTMS=1000) as process:
        own_postgres.freeze()
        try:
            assert await process.stop() < 15
        finally:
            own_postgres.thaw()
