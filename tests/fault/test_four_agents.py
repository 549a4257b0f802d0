"""Four agents on one table, with receivers that fail, agents that freeze past their leases, retries and deaths."""

import random
from collections import Counter
from signal import SIGCONT, SIGSTOP

import psycopg
import pytest

from services.agents import AgentProcess, agents
from services.endpoint import Endpoint, Message, endpoint
from services.outbox import insert_many, states
from services.waiting import until, working_for

pytestmark = [pytest.mark.postgres, pytest.mark.fault]

ROWS, KEYS = 2_000, 40


def settled(connection: psycopg.Connection) -> bool:
    return set(states(connection)) <= {"sent", "dead"}


async def duplicates_explained(receiver: Endpoint, running: list[AgentProcess]) -> bool:
    """Each repeat of a message is a claim that some agent counted as lost."""
    repeats = sum(count - 1 for count in Counter(message.id for message in receiver.taken).values())
    lost = sum([await process.metric('queuebox_claims_lost_total{component="outbox"}') for process in running])
    return repeats <= lost


async def test_failures_and_retries_keep_the_order_of_every_key(database: str, connection: psycopg.Connection) -> None:
    chance = random.Random(7)  # noqa: S311  a test's luck

    async def sometimes(_: Message) -> int | None:
        luck = chance.random()
        return 503 if luck < 0.05 else None if luck < 0.07 else 200

    async with (
        endpoint(sometimes) as receiver,
        agents(4, database, receiver.url, OUTBOX_RETRYBASEDELAYMS=10) as running,
    ):
        insert_many(connection, ROWS, keys=KEYS)
        await until(lambda: settled(connection), 60)
        assert await duplicates_explained(receiver, running)
    assert states(connection) == {"sent": ROWS}
    assert {key: receiver.steps(f"k{key}") for key in range(KEYS)} == {
        key: list(range(key + 1, ROWS + 1, KEYS)) for key in range(KEYS)
    }


async def test_an_agent_that_freezes_past_its_lease_loses_its_writes(
    database: str, connection: psycopg.Connection
) -> None:
    async with endpoint() as receiver, agents(4, database, receiver.url, OUTBOX_CLAIMTIMEOUTMS=1000) as running:
        insert_many(connection, ROWS, keys=KEYS)
        await receiver.has_taken(100)
        running[0].signal(SIGSTOP)
        await until(lambda: settled(connection), 60)
        running[0].signal(SIGCONT)
        await until(running[0].ready, 20)
        assert await duplicates_explained(receiver, running)
    assert states(connection) == {"sent": ROWS}
    assert {key: receiver.steps(f"k{key}") for key in range(KEYS)} == {
        key: list(range(key + 1, ROWS + 1, KEYS)) for key in range(KEYS)
    }


async def test_one_row_of_a_key_is_in_flight_over_all_agents(database: str, connection: psycopg.Connection) -> None:
    flying: Counter[str | None] = Counter()
    worst = 0

    async def watch(message: Message) -> int:
        nonlocal worst
        flying[message.key] += 1
        worst = max(worst, flying[message.key])
        try:
            await working_for(0.003)
        finally:
            flying[message.key] -= 1
        return 200

    async with endpoint(watch) as receiver, agents(4, database, receiver.url):
        insert_many(connection, ROWS, keys=KEYS)
        await until(lambda: settled(connection), 60)
    assert worst == 1
