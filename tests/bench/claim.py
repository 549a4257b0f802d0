"""Claim and complete at a million waiting rows, without a publish; flatness; work under an old snapshot."""

import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg

from bench.figure import Figure, against
from queuebox_agent.domain.outcome import Delivered, Settlement
from queuebox_agent.store.postgres.connect import conninfo, open_pool
from queuebox_agent.store.postgres.names import OutboxNames
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from services.postgres import new_database
from services.schema import apply_migrations, database_config

MILLION, BATCH, SECONDS, ROUNDS, CLAIMS = 1_000_000, 200, 5.0, 3, 100
KEYS = {
    "claim_no_keys_1m": ("NULL", 12_000),
    "claim_10k_keys_1m": ("'k' || i % 10000", 10_000),
    "claim_hot_key_1m": ("'k'", 2_000),
    "claim_half_keyed_1m": ("CASE WHEN i % 2 = 0 THEN 'k' || i % 10000 END", 10_000),
}
"""Name of a figure: the key of row i, and the rows a second that are wanted."""
OLD = "now() - interval '1 hour' + i * interval '1 ms'"
WAITING_KEYS = 50_000


async def fill(connection: psycopg.AsyncConnection, rows: int, key: str, due: str = OLD) -> None:
    """That many rows and nothing else, as a quiet table has them."""
    await connection.execute("TRUNCATE outbox")
    await add(connection, 1, rows, key, due)
    await connection.execute("VACUUM ANALYZE outbox")
    await connection.execute("CHECKPOINT")


async def add(connection: psycopg.AsyncConnection, first: int, last: int, key: str, due: str = OLD) -> None:
    statement = f"""INSERT INTO outbox (topic, key, payload, headers, scheduled_at)
        SELECT 'order.created', {key}, jsonb_build_object('orderId', gen_random_uuid(), 'amount', i),
            '{{"X-Tenant": "acme"}}', {due} FROM generate_series({first}, {last}) i"""  # noqa: S608  texts of this file
    await connection.execute(statement.encode())


@asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[PostgresOutbox]:
    """A store as an agent has it, with runs of up to 100 rows of a key."""
    database = database_config(database_url)
    pool = await open_pool(conninfo(database), database)
    try:
        yield PostgresOutbox(pool, OutboxNames.from_config(database), 300.0, longest_run=100)
    finally:
        await pool.close()


async def drain(store: PostgresOutbox, seconds: float = SECONDS, rows: int = MILLION) -> float:
    """Rows a second of one process that claims and completes."""
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds and done < rows:
        claimed = await store.claim(BATCH)
        done += len(await store.settle([Settlement(row.claim, Delivered()) for row in claimed]))
    return done / (time.perf_counter() - began)


async def rate(connection: psycopg.AsyncConnection, database_url: str, name: str) -> Figure:
    key, wanted = KEYS[name]
    await fill(connection, MILLION, key)
    async with opened(database_url) as store:
        speed = statistics.median([await drain(store) for _ in range(ROUNDS)])
    return against(name, speed, "rows/s", wanted, rows=MILLION, key=key, batch=BATCH, seconds=SECONDS, rounds=ROUNDS)


async def waiting_heads(connection: psycopg.AsyncConnection, database_url: str) -> Figure:
    """The first row of each of 50 000 keys waits for an hour; 1 000 other keys have 20 due rows each."""
    later = f"CASE WHEN i <= {WAITING_KEYS} THEN interval '1 hour' ELSE interval '-1 hour' + i * interval '1 ms' END"
    due = f"now() + {later}"
    await fill(connection, MILLION, f"'k' || i % {WAITING_KEYS}", due)
    await add(connection, 1, 20_000, "'free' || i % 1000", "now() - interval '1 s'")
    async with opened(database_url) as store:
        speed = await drain(store, 60, 20_000)
    return against(
        "claim_waiting_heads_1m", speed, "rows/s", KEYS["claim_hot_key_1m"][1], rows=MILLION, keys=WAITING_KEYS
    )


async def flatness(connection: psycopg.AsyncConnection, database_url: str) -> Figure:
    """Median time a claimed row at a million rows through that at a thousand, for the keys where it is worst; 1.5 is
    the most that is wanted. The two tables take turns, so that both see the same machine.
    """
    with new_database(database_url) as small_url:
        apply_migrations(small_url)
        async with await psycopg.AsyncConnection.connect(small_url, autocommit=True) as small:
            tables = {1_000: (small, small_url), MILLION: (connection, database_url)}
            ratios = {name: await _ratio(tables, key) for name, (key, _) in KEYS.items()}
    worst = max(ratios, key=lambda name: ratios[name])
    return against("claim_time_1m_vs_1k", ratios[worst], "times", 1.5, batch=BATCH, claims=CLAIMS, worst=worst)


async def _ratio(tables: dict[int, tuple[psycopg.AsyncConnection, str]], key: str) -> float:
    times: dict[int, list[float]] = {rows: [] for rows in tables}
    async with AsyncExitStack() as stack:
        stores = {}
        for rows, (connection, url) in tables.items():
            await fill(connection, rows, key)
            stores[rows] = await stack.enter_async_context(opened(url))
        for turn in range(CLAIMS):
            for rows in sorted(tables, reverse=bool(turn % 2)):
                began = time.perf_counter()
                claimed = await stores[rows].claim(BATCH)
                times[rows].append((time.perf_counter() - began) / len(claimed))
                await stores[rows].settle([Settlement(row.claim, Delivered()) for row in claimed])
                await add(tables[rows][0], rows + turn * BATCH + 1, rows + turn * BATCH + len(claimed), key)
    return statistics.median(times[MILLION]) / statistics.median(times[1_000])


async def held_snapshot(connection: psycopg.AsyncConnection, database_url: str) -> Figure:
    """Rows a second while an old snapshot keeps vacuum from removing anything, through those without it."""
    speeds = {}
    for held in (False, True):
        await fill(connection, MILLION // 2, "'k' || i % 10000")
        async with await psycopg.AsyncConnection.connect(database_url) as old, opened(database_url) as store:
            await old.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
            await old.execute("SELECT 1")
            if not held:
                await old.rollback()
            speeds[held] = await drain(store, 20)
    return against(
        "claim_held_snapshot", speeds[True], "rows/s", speeds[False], rows=MILLION // 2, keys=10_000, seconds=20
    )


async def figures(database_url: str) -> list[Figure]:
    """Every figure of this file; `database_url`: a database with the schema."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        found = [await rate(connection, database_url, name) for name in KEYS]
        return [
            *found,
            *[await measure(connection, database_url) for measure in (waiting_heads, flatness, held_snapshot)],
        ]
