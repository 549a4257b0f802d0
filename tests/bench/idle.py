"""What an agent asks of its database while there is nothing to do."""

import psycopg

from bench.figure import Figure, against
from bench.processes import agent, receiver
from services.waiting import working_for

SECONDS = 20
PEER = 1138
"""Idle transactions a minute of the first implementation while it polls (edge-cases 4)."""
CALLS = "SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'"


async def figures(database_url: str) -> list[Figure]:
    """Statements a minute of one agent with the default settings; the server must preload pg_stat_statements."""
    async with (
        receiver() as url,
        agent(database_url, url),
        await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection,
    ):
        await connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        await working_for(2)
        await connection.execute("SELECT pg_stat_statements_reset()")
        await working_for(SECONDS)
        row = await (await connection.execute(CALLS)).fetchone()
    calls = float(row[0] or 0) * 60 / SECONDS if row else 0.0
    return [against("idle_queries_per_minute", calls, "statements/min", PEER, poll_interval_ms=100, seconds=SECONDS)]
