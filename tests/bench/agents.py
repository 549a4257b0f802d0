"""Four agents on one table against one, outbox to HTTP, in turns in the same run."""

import statistics
from contextlib import AsyncExitStack

from bench.delivery import delivered
from bench.figure import Figure, against
from bench.processes import agent, receiver

AGENTS, CONCURRENCY, ROUNDS = 4, 32, 3
KEYS = {
    "four_agents_no_keys": ("NULL", 20_000),
    "four_agents_10k_keys": ("'k' || i %% 10000", 20_000),
    "four_agents_hot_key": ("'k'", 2_000),
}
"""Name of a figure: the key of row i, and how many rows."""


async def rate(database_url: str, url: str, agents: int, key: str, rows: int) -> float:
    """Rows a second of so many fresh agents, warm."""
    async with AsyncExitStack() as stack:
        for _ in range(agents):
            await stack.enter_async_context(agent(database_url, url, concurrency=CONCURRENCY))
        await delivered(database_url, key, rows // 4)
        return await delivered(database_url, key, rows)


async def figures(database_url: str) -> list[Figure]:
    """Every figure of this file; `database_url`: a database with the schema. The roof is what one agent does."""
    found = []
    async with receiver() as url:
        for name, (key, rows) in KEYS.items():
            speeds: dict[int, list[float]] = {1: [], AGENTS: []}
            for _ in range(ROUNDS):
                for agents, measured in speeds.items():
                    measured.append(await rate(database_url, url, agents, key, rows))
            one, four = (statistics.median(measured) for measured in speeds.values())
            conditions = {"rows": rows, "key": key, "concurrency": CONCURRENCY, "rounds": ROUNDS}
            found.append(against(name, four, "rows/s", one, **conditions))
    return found
