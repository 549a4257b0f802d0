"""Outbox to HTTP, end to end, against the bare aiohttp loop in the same run."""

import asyncio
import statistics
import time

import aiohttp
import psutil
import psycopg

from bench.figure import Figure, against
from bench.processes import agent, receiver
from services.waiting import until

ROWS = 30_000
BARE_REQUESTS = 15_000
ROUNDS = 3
BODY = '{"orderId": "%s", "note": "' + "x" * 960 + '"}'
FILL = """INSERT INTO outbox (topic, key, payload) SELECT 'order.created', {key},
  jsonb_build_object('orderId', i, 'note', repeat('x', 960)) FROM generate_series(1, %s) i"""
# Three looks into small indexes: to count the rows would take the processor that the agent is measured on.
UNSENT = """SELECT EXISTS (SELECT FROM outbox WHERE state = 'pending' AND (key IS NULL OR key = ''))
  OR EXISTS (SELECT FROM outbox WHERE state = 'pending' AND key <> '')
  OR EXISTS (SELECT FROM outbox WHERE state = 'processing')"""
KEYS = {"none": "NULL", "10000": "'k' || i %% 10000"}
WANTED_ROWS_PER_SECOND = 2_000
WANTED_RSS_MIB = 150


async def bare(url: str, concurrency: int) -> float:
    """Requests a second of a loop that only posts."""
    left = iter(range(BARE_REQUESTS))

    async def work(session: aiohttp.ClientSession) -> None:
        for number in left:
            body = (BODY % number).encode()
            async with session.post(f"{url}/orders", data=body, headers={"Content-Type": "application/json"}) as answer:
                assert answer.status == 200
                await answer.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.perf_counter()
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
        return BARE_REQUESTS / (time.perf_counter() - began)


async def delivered(database_url: str, key: str, rows: int = ROWS) -> float:
    """Rows a second from the commit of all rows to the state `sent` of the last one."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:

        async def all_sent() -> bool:
            found = await connection.execute(UNSENT)
            return await found.fetchone() == (False,)

        await connection.execute("SET enable_seqscan = off")
        await connection.execute("TRUNCATE outbox")
        await connection.execute(FILL.format(key=key), (rows,))
        began = time.perf_counter()
        await until(all_sent, 120, "delivery of every row", every=0.05)
        return rows / (time.perf_counter() - began)


async def measure(database_url: str, concurrency: int, key: str) -> tuple[float, float, float, float]:
    """Medians of the agent's and the bare rate, the agent's CPU in microseconds a row, and its memory in MiB."""
    ours, roofs, cpu = [], [], []
    async with receiver() as url, agent(database_url, url, concurrency=concurrency) as process:
        await delivered(database_url, key)
        for _ in range(ROUNDS):
            roofs.append(await bare(url, concurrency))
            before = sum(process.cpu_times()[:2])
            ours.append(await delivered(database_url, key))
            cpu.append((sum(process.cpu_times()[:2]) - before) / ROWS * 1e6)
        memory = process.memory_info().rss / 2**20
    return statistics.median(ours), statistics.median(roofs), statistics.median(cpu), memory


async def figures(database_url: str) -> list[Figure]:
    """Every figure of this file; `database_url`: a database with the schema."""
    found: list[Figure] = []
    for name, concurrency, keys in (
        ("http_c8", 8, "none"),
        ("http_c32", 32, "none"),
        ("http_10k_keys_c32", 32, "10000"),
    ):
        ours, roof, cpu, memory = await measure(database_url, concurrency, KEYS[keys])
        conditions = {
            "rows": ROWS,
            "keys": keys,
            "concurrency": concurrency,
            "body_bytes": 1000,
            "rounds": ROUNDS,
            "cores": psutil.cpu_count(),
        }
        found.append(against(name, ours, "rows/s", roof, **conditions))
        if name == "http_c32":
            found.append(against("agent_cpu_us_per_row", cpu, "us", 1e6 / WANTED_ROWS_PER_SECOND, **conditions))
            found.append(against("agent_rss_mib", memory, "MiB", WANTED_RSS_MIB, **conditions))
    return found
