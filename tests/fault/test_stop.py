"""SIGTERM: what was not begun goes back at once, what is in flight is waited for, and the budget holds."""

from pathlib import Path
from signal import SIGTERM

import psycopg
import pytest

from queuebox_agent.demo.postgres import free_port
from queuebox_agent.store.postgres.migrate import LOCK
from services.agents import AgentProcess, agent
from services.endpoint import Gate, endpoint
from services.outbox import insert_many, states
from services.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.fault]


async def test_a_full_destination_queue_goes_back_at_once(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agent(database, receiver.url, OUTBOX_CONCURRENCY=4) as process:
        insert_many(connection, 100)
        await until(lambda: receiver.open == 4 and states(connection)["processing"] > 50)
        process.signal(SIGTERM)
        await until(lambda: states(connection) == {"processing": 4, "pending": 96}, 5)
        gate.open()
        await process.ended()
        assert states(connection) == {"sent": 4, "pending": 96}


async def test_rows_behind_the_head_of_a_key_go_back_too(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agent(database, receiver.url) as process:
        insert_many(connection, 20, keys=1)
        await until(lambda: receiver.open == 1)
        process.signal(SIGTERM)
        await until(lambda: states(connection) == {"processing": 1, "pending": 19}, 5)
        gate.open()
        await process.ended()
    assert states(connection) == {"sent": 1, "pending": 19}


async def test_a_receiver_that_hangs_does_not_hold_the_stop_beyond_its_budget(
    database: str, connection: psycopg.Connection
) -> None:
    async with endpoint(Gate()) as receiver, agent(database, receiver.url, OUTBOX_SHUTDOWNTIMEOUTMS=500) as process:
        insert_many(connection, 30)
        await until(lambda: receiver.open == 8)
        assert await process.stop() < 5
    assert states(connection) == {"processing": 8, "pending": 22}


async def test_an_idle_agent_stops_at_once_and_with_status_zero(database: str) -> None:
    async with endpoint() as receiver, agent(database, receiver.url) as process:
        assert await process.stop() < 3
        assert await process.ended() == 0


async def test_a_second_signal_ends_it_at_once(database: str, connection: psycopg.Connection) -> None:
    async with endpoint(Gate()) as receiver, agent(database, receiver.url) as process:
        insert_many(connection, 1)
        await until(lambda: receiver.open == 1)
        process.signal(SIGTERM)
        await until(lambda: "stopping" in process.log)
        process.signal(SIGTERM)
        assert await process.ended() != 0


async def test_a_signal_during_the_start_ends_the_wait_for_the_database(tmp_path: Path) -> None:
    nowhere = f"postgresql://nobody:none@127.0.0.1:{free_port()}/none"
    process = AgentProcess(nowhere, "http://127.0.0.1:1", tmp_path, {})
    await process.start(wait=False)
    await until(lambda: "does not answer yet" in process.log)
    assert await process.stop() < 3
    assert await process.ended() == 0


async def test_a_signal_during_the_start_ends_the_wait_for_another_migration(
    empty_database: str, tmp_path: Path
) -> None:
    process = AgentProcess(empty_database, "http://127.0.0.1:1", tmp_path, {})
    with psycopg.connect(empty_database, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        await process.start(wait=False)
        waits = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory_xact_lock%'"
        await until(lambda: other.execute(waits).fetchone() == (1,), 20)
        assert await process.stop() < 3
    assert await process.ended() == 0
