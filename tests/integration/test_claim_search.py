"""How a claim on PostgreSQL finds rows behind what it cannot take, and what it must not trip over."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from contract.outbox_store import claimed_ids, claimed_soon, deliver
from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.errors import Misconfigured
from queuebox_agent.store.postgres.names import statement
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from services.outbox_table import DEFAULT_NAMES, PostgresTable
from services.stores import open_pool
from services.waiting import until

LEASE = 60.0
SCANS = "SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relname = 'outbox'"


@pytest.fixture
def table(database: str) -> Iterator[PostgresTable]:
    with PostgresTable(database) as table:
        yield table


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresOutbox]:
    async with open_pool(database) as pool:
        yield PostgresOutbox(pool, DEFAULT_NAMES, LEASE)


@pytest.mark.parametrize("key", [None, "k{}", "k"], ids=["no key", "a key each", "one key"])
async def test_rows_behind_a_dead_destination_are_found_within_two_seconds(
    store: PostgresOutbox, table: PostgresTable, key: str | None
) -> None:
    table.fill(100_000, topic="dead", key=key, due=-60)
    healthy = table.insert(topic="healthy", key=None if key is None else "zebra")
    began = time.monotonic()
    while await claimed_ids(store, skip=["dead"]) != [healthy]:
        assert time.monotonic() - began < 2


async def test_a_claim_that_finds_nothing_is_over_within_a_second(store: PostgresOutbox, table: PostgresTable) -> None:
    table.fill(300_000, topic="dead", due=-60)
    began = time.monotonic()
    assert await claimed_ids(store, skip=["dead"]) == []
    assert time.monotonic() - began < 1


async def test_a_key_behind_a_long_queue_of_a_waiting_key_is_found(store: PostgresOutbox, table: PostgresTable) -> None:
    table.insert(key="hot", due=3600)
    table.fill(100_000, key="hot", due=-60)
    free = table.insert(key="zebra")
    assert await claimed_soon(store) == [free]


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_row_of_the_beginning_of_time_is_claimed(
    store: PostgresOutbox, table: PostgresTable, key: str | None
) -> None:
    id_ = table.insert(key=key, scheduled_at="-infinity")
    assert await claimed_ids(store) == [id_]


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_row_of_the_end_of_time_waits(store: PostgresOutbox, table: PostgresTable, key: str | None) -> None:
    table.insert(key=key, scheduled_at="infinity", created_at="-infinity")
    assert await claimed_ids(store) == []
    assert (await store.backlog()).pending == 1


async def test_a_plan_made_for_an_empty_table_still_walks_the_indexes(database: str, table: PostgresTable) -> None:
    before = table.connection.execute(SCANS).fetchall()[0]
    async with open_pool(database) as pool:
        store = PostgresOutbox(pool, DEFAULT_NAMES, LEASE)
        await store.claim(100)
        table.fill(2_000, key="k{}")
        table.fill(2_000)
        while rows := await store.claim(100):
            await deliver(store, *rows)
        await store.reclaim()
        await store.backlog()
    await until(lambda: table.connection.execute(SCANS).fetchall()[0][1] > before[1] + 4_000, 10)
    assert table.connection.execute(SCANS).fetchall()[0][0] == before[0]


async def test_a_changed_column_costs_one_claim(store: PostgresOutbox, table: PostgresTable) -> None:
    id_ = table.insert()
    await deliver(store, *await store.claim(1))
    table.connection.execute("ALTER TABLE outbox ALTER COLUMN topic TYPE text")
    table.change(id_, state="pending", claim_token=None)
    with pytest.raises(Misconfigured, match="cached plan must not change result type"):
        await store.claim(1)
    assert await claimed_soon(store) == [id_]


async def test_a_claim_does_not_wait_for_one_that_is_not_committed(
    database: str, store: PostgresOutbox, table: PostgresTable
) -> None:
    table.fill(10, key="k{}")
    with PostgresTable(database, autocommit=False) as slow, slow.connection.transaction():
        keys = [f"k{number}" for number in range(1, 6)]
        parameters = {"keys": keys, "since": ["0" * 32] * 5, "table": "outbox"}
        slow.connection.execute(statement("outbox_lock_keys", DEFAULT_NAMES), parameters)
        slow.connection.execute("SELECT FROM outbox WHERE key = ANY (%s) FOR UPDATE", [keys])
        began = time.monotonic()
        assert len(await store.claim(10)) == 5
        assert time.monotonic() - began < 1


async def test_four_claimers_share_two_hundred_rows_of_ten_keys_in_order(database: str, table: PostgresTable) -> None:
    for _ in range(20):
        for key in range(10):
            table.insert(key=f"k{key}")
    delivered: list[OutboxRow] = []

    async def work() -> None:
        async with open_pool(database) as pool:
            store = PostgresOutbox(pool, DEFAULT_NAMES, LEASE, longest_run=3)
            while len(delivered) < 200:
                rows = await store.claim(5)
                delivered.extend(rows)
                await deliver(store, *rows)

    await asyncio.wait_for(asyncio.gather(*[work() for _ in range(4)]), 30)
    assert len({row.claim.id for row in delivered}) == len(delivered) == 200
    for name in {row.key for row in delivered}:
        sequences = [row.sequence for row in delivered if row.key == name]
        assert sequences == sorted(sequences)
