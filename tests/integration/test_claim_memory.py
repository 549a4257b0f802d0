"""What a claim on PostgreSQL remembers and when it forgets; the layout of its tokens."""

from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import pytest

from contract.outbox_store import claim_one, claimed_ids, deliver, release
from queuebox_agent.errors import Unavailable
from queuebox_agent.store.postgres.connect import Pool
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from queuebox_agent.store.postgres.runs import HOT
from services.outbox_table import DEFAULT_NAMES, PostgresTable
from services.stores import open_pool
from services.waiting import until

LEASE = 60.0
TAKEN = "SELECT count(*) FROM outbox WHERE state = 'sent'"
OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL (%s)"


@pytest.fixture
def table(database: str) -> Iterator[PostgresTable]:
    with PostgresTable(database) as table:
        yield table


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with open_pool(database) as pool:
        yield pool


@pytest.fixture
def store(pool: Pool) -> PostgresOutbox:
    return PostgresOutbox(pool, DEFAULT_NAMES, LEASE)


async def test_a_token_names_the_transaction_and_the_instance(store: PostgresOutbox, table: PostgresTable) -> None:
    table.insert()
    before = transaction_number(table)
    token = (await claim_one(store)).claim.token
    assert (token.version, token.int & (2**62 - 1)) == (8, store.instance)
    assert before <= token.int >> 80 <= transaction_number(table)


async def test_the_tokens_of_a_key_only_grow(store: PostgresOutbox, table: PostgresTable) -> None:
    table.insert(key="k")
    tokens = []
    for _ in range(5):
        rows = await store.claim(1)
        tokens.append(rows[0].claim.token)
        await release(store, *rows)
    assert tokens == sorted(tokens)


async def test_two_stores_are_two_instances(pool: Pool, store: PostgresOutbox) -> None:
    assert PostgresOutbox(pool, DEFAULT_NAMES, LEASE).instance != store.instance


async def test_a_run_is_as_long_as_the_store_was_told(pool: Pool, table: PostgresTable) -> None:
    table.fill(10, key="k")
    assert len(await PostgresOutbox(pool, DEFAULT_NAMES, LEASE, longest_run=3).claim(10)) == 3


async def test_behind_a_pooler_nothing_stays_on_a_connection(database: str, table: PostgresTable) -> None:
    table.fill(3, key="k")
    async with open_pool(database, size=1) as pool:
        store = PostgresOutbox(pool, DEFAULT_NAMES, LEASE, prepare=False)
        await deliver(store, *await store.claim(10))
        async with pool.connection() as connection:
            cursor = await connection.execute(
                "SELECT current_setting('enable_seqscan'), (SELECT count(*) FROM pg_prepared_statements)"
            )
            assert await cursor.fetchone() == ("on", 0)


async def test_what_is_known_of_tokens_ends_with_the_connections(
    pool: Pool, store: PostgresOutbox, table: PostgresTable
) -> None:
    """As after a failover to a server whose transaction numbers are lower: a row in flight there has a lower token."""
    table.insert(key="k")
    await deliver(store, await claim_one(store))
    table.connection.execute(OTHERS, [[table.connection.info.backend_pid]])
    await until(lambda: works(store), 10, "a new connection")
    table.insert(key="k", state="processing", lease_ends=60, claim_token="0" * 32)
    table.insert(key="k")
    assert await claimed_ids(store) == []


async def test_a_row_that_comes_back_to_a_hot_key_is_found_soon(store: PostgresOutbox, table: PostgresTable) -> None:
    """Of a key that many rows were taken of, the first row is looked for behind the last run, but not always."""
    table.fill(HOT + 500, key="k")
    first = (await deliver_next(store, 100))[0]
    while len(await deliver_next(store, 100)) == 100 and table.connection.execute(TAKEN).fetchall()[0][0] < HOT:
        pass
    table.requeue(first)
    passed_by = 0
    while (await deliver_next(store, 1)) != [first]:
        passed_by += 1
        assert passed_by < 200


async def deliver_next(store: PostgresOutbox, limit: int) -> list[UUID]:
    rows = await store.claim(limit)
    await deliver(store, *rows)
    return [row.claim.id for row in rows]


async def works(store: PostgresOutbox) -> bool:
    try:
        await store.claim(1)
    except Unavailable:
        return False
    return True


def transaction_number(table: PostgresTable) -> int:
    (number,) = table.connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchall()[0]
    return int(number)
