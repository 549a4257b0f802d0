"""kill -9 of the agent between any two steps: nothing is lost, and the order of a key holds."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from services.agents import AgentProcess, agents
from services.endpoint import Endpoint, Message, endpoint
from services.outbox import all_sent, insert, insert_many, states
from services.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.fault]

LEASE = {"OUTBOX_CLAIMTIMEOUTMS": 1000}
SETTLES = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def revived(first: AgentProcess, database: str, receiver: Endpoint, folder: Path) -> AgentProcess:
    """kill -9, then another agent on the same table."""
    await first.kill()
    second = AgentProcess(database, receiver.url, folder, LEASE)
    await second.start()
    return second


async def test_after_the_claim_before_the_publish(
    database: str, connection: psycopg.Connection, tmp_path: Path
) -> None:
    """One slot hangs, so the rest of what was claimed waits in memory and is never begun."""
    hang = asyncio.Event()

    async def answer(_: Message) -> int:
        await hang.wait()
        return 200

    async with (
        endpoint(answer) as receiver,
        agents(1, database, receiver.url, OUTBOX_CONCURRENCY=1, **LEASE) as (first,),
    ):
        insert_many(connection, 20)
        await until(lambda: states(connection) == {"processing": 20})
        hang.set()
        second = await revived(first, database, receiver, tmp_path)
        await until(lambda: all_sent(connection), 15)
        await second.kill()
    assert len(receiver.ids) == 20


async def test_during_the_publish(database: str, connection: psycopg.Connection, tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def hang_once(_: Message) -> int | None:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return 200

    async with endpoint(hang_once) as receiver, agents(1, database, receiver.url, **LEASE) as (first,):
        insert(connection, [1, 2, 3], key="k")
        await asyncio.wait_for(begun.wait(), 10)
        second = await revived(first, database, receiver, tmp_path)
        await until(lambda: all_sent(connection), 15)
        await second.kill()
    assert receiver.steps("k") == [1, 2, 3]


async def test_after_the_publish_before_the_outcome_is_written(
    database: str, connection: psycopg.Connection, tmp_path: Path
) -> None:
    """The receiver locks the row before it answers, so the outcome cannot be written until the agent is dead."""
    with psycopg.connect(database) as lock:

        async def lock_and_take(message: Message) -> int:
            if message.body["n"] == 1 and message.attempt == 0 and not receiver.taken:
                lock.execute("SELECT 1 FROM outbox WHERE id = %s FOR UPDATE", (message.id,))
            return 200

        async with endpoint(lock_and_take) as receiver, agents(1, database, receiver.url, **LEASE) as (first,):
            insert(connection, [1, 2, 3], key="k")
            await until(lambda: connection.execute(SETTLES).fetchone() is not None, 10, "a blocked outcome")
            await first.kill()
            lock.rollback()
            second = AgentProcess(database, receiver.url, tmp_path, LEASE)
            await second.start()
            await until(lambda: all_sent(connection), 15)
            await second.kill()
    assert receiver.steps("k") == [1, 2, 3]
    assert [message.body["n"] for message in receiver.taken] in ([1, 1, 2, 3], [1, 2, 3])


@pytest.mark.parametrize("moment", [10, 60, 150])
async def test_at_any_moment_under_load(
    database: str, connection: psycopg.Connection, tmp_path: Path, moment: int
) -> None:
    async with endpoint() as receiver, agents(1, database, receiver.url, **LEASE) as (first,):
        insert_many(connection, 400, keys=20)
        await receiver.has_taken(moment)
        second = await revived(first, database, receiver, tmp_path)
        await until(lambda: all_sent(connection), 20)
        await second.kill()
    assert_each_key_in_order(receiver, 400, 20)


def assert_each_key_in_order(receiver: Endpoint, rows: int, keys: int) -> None:
    expected: Callable[[int], list[int]] = lambda key: list(range(key + 1, rows + 1, keys))  # noqa: E731  one line, used once
    assert {key: receiver.steps(f"k{key}") for key in range(keys)} == {key: expected(key) for key in range(keys)}
