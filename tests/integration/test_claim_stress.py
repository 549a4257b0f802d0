"""Four processes on one table: deliveries fail, stall past their lease or die, rows commit late and are replayed."""

import asyncio
import os
import random
import sys
from collections import Counter
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from services import claim_witness
from services.waiting import until

TESTS = Path(__file__).parents[1]
PROCESSES = 4
CHANCE = random.Random()  # noqa: S311  a test's mischief is no secret
SLOW = "QUEUEBOX_TEST_SLOW"
FILL = """INSERT INTO outbox (topic, key, payload, max_attempts, scheduled_at)
SELECT 'stress', CASE i %% 20 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'k' || (random() * 49)::int END, '{}', 3,
  now() + CASE WHEN random() < 0.02 THEN random() * interval '3 s' ELSE interval '0' END
FROM generate_series(1, %s) i"""
LATE = "INSERT INTO outbox (topic, key, payload, max_attempts) VALUES ('stress', %s, '{}', 3)"
REPLAY = """UPDATE outbox SET state = 'pending', attempt = 0, scheduled_at = now(), claim_token = NULL,
  lease_expires_at = NULL, claimed_at = NULL
WHERE id = (SELECT id FROM outbox WHERE key LIKE 'late%' AND state IN ('sent', 'dead') ORDER BY random() LIMIT 1)
RETURNING id"""


async def stress(database: str, rows: int, mischief: int, *without: str) -> dict[str, int]:
    """The faults that the witnesses saw."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        await connection.execute(FILL, [rows])
        workers = [await start(database, number, *without) for number in range(PROCESSES)]
        try:
            replayed = await commit_late_and_replay(database, mischief)
            await until(lambda: all_done(connection), 100, "every row is finished")
        finally:
            codes = [await stopped(worker) for worker in workers]
    assert without or not any(codes)
    with psycopg.connect(database) as looking:
        return claim_witness.faults(looking, replayed)


async def start(database: str, number: int, *without: str) -> asyncio.subprocess.Process:
    arguments = ["-m", "services.claim_worker", database, str(number), *without]
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stdin=asyncio.subprocess.PIPE
    )


async def stopped(worker: asyncio.subprocess.Process) -> int:
    assert worker.stdin
    worker.stdin.close()
    return await worker.wait()


async def all_done(connection: psycopg.AsyncConnection) -> bool:
    cursor = await connection.execute("SELECT FROM outbox WHERE state IN ('pending', 'processing') LIMIT 1")
    return not await cursor.fetchall()


async def commit_late_and_replay(database: str, rounds: int) -> Counter[UUID]:
    """Of three rows of a late key, the one with the lowest sequence commits last; and some row is replayed."""
    replayed: Counter[UUID] = Counter()
    connect = psycopg.AsyncConnection.connect
    async with await connect(database) as slow, await connect(database, autocommit=True) as fast:
        for _ in range(rounds):
            key = f"late{CHANCE.randrange(10)}"
            for connection in (slow, fast, fast):
                await connection.execute(LATE, [key])
            await fast.execute("SELECT pg_sleep(random() * 0.04)")
            await slow.commit()
            replayed.update(id_ for (id_,) in await (await fast.execute(REPLAY)).fetchall())
    return replayed


@pytest.fixture
def witnessed(database: str, connection: psycopg.Connection) -> str:
    claim_witness.install(connection)
    return database


async def test_order_single_flight_and_every_row_survive_everything(witnessed: str) -> None:
    assert await stress(witnessed, 5_000, 150) == {}


@pytest.mark.skipif(SLOW not in os.environ, reason=f"{SLOW} is not set: this proves the test above, not the product")
@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("lock", "two tokens on one key"),
        ("busy", "two tokens on one key"),
        ("token", "two tokens on one key"),
        ("head", "out of order"),
    ],
)
async def test_without_a_part_of_the_claim_it_fails(witnessed: str, part: str, fault: str) -> None:
    assert fault in await stress(witnessed, 5_000, 150, part)
