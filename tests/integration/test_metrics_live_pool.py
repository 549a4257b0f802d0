"""The statistics of the real pool have the names that the metrics read."""

import re

import pytest
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from queuebox_agent.telemetry.metrics import Metrics


def exposed(metrics: Metrics) -> dict[str, float]:
    pattern = re.compile(r'^queuebox_db_pool_connections(\w*)\{pool="live"\} (\S+)$', re.MULTILINE)
    return {name: float(value) for name, value in pattern.findall(metrics.exposition().decode())}


@pytest.mark.postgres
async def test_a_busy_pool_shows_in_the_metrics(postgres_url: str) -> None:
    metrics = Metrics("1")
    async with AsyncConnectionPool(postgres_url, min_size=1, max_size=2, open=False) as pool:
        metrics.watch_pool("live", pool.get_stats)
        async with pool.connection() as first, pool.connection():
            await first.execute("SELECT pg_sleep(0.02)")
            with pytest.raises(PoolTimeout):
                await pool.getconn(timeout=0.02)
            busy = exposed(metrics)
        idle = exposed(metrics)

    expected = {"": 2, "_active": 2, "_idle": 0, "_min": 1, "_max": 2, "_timeout_total": 1, "_acquire_seconds_count": 3}
    assert {name: busy[name] for name in expected} == expected
    assert (idle["_active"], idle["_idle"], idle["_creation_seconds_count"]) == (0, 2, 2)
    assert all(idle[f"_{kind}_seconds_sum"] > 0 for kind in ("acquire", "creation", "usage"))
