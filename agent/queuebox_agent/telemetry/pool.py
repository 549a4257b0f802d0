"""The database pool's own statistics as metrics."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

Statistics = Callable[[], Mapping[str, int]]
"""Gives the pool's statistics by the names of psycopg_pool; one that is missing is zero. Durations are milliseconds."""

PREFIX = "queuebox_db_pool_connections"
LABELS = ("pool",)


class PoolCollector(Collector):
    """`queuebox_db_pool_*` of every watched pool (docs/reference/metrics.md has the mapping)."""

    def __init__(self) -> None:
        self._pools: dict[str, Statistics] = {}

    def watch(self, pool: str, statistics: Statistics) -> None:
        """Show this pool in every scrape from now on. A pool of the same name is replaced."""
        self._pools[pool] = statistics

    @override
    def collect(self) -> Iterator[Metric]:
        """What a scrape reads."""
        pools = {pool: statistics() for pool, statistics in self._pools.items()}
        yield from _gauges(pools)
        timeouts = CounterMetricFamily(f"{PREFIX}_timeout", "Requests for a connection that got none.", labels=LABELS)
        for pool, stats in pools.items():
            timeouts.add_metric((pool,), stats.get("requests_errors", 0))
        yield timeouts
        yield _summary(
            "acquire", "Time that requests waited for a connection.", pools, "requests_num", "requests_wait_ms"
        )
        yield _summary("creation", "Time to open connections.", pools, "connections_num", "connections_ms")
        yield _summary("usage", "Time that callers held connections.", pools, "requests_num", "usage_ms")


def _gauges(pools: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    families = {
        "": "Connections, idle and active.",
        "_active": "Connections that a caller holds or that are being opened.",
        "_idle": "Connections that are free.",
        "_pending": "Callers that wait for a connection.",
        "_min": "Connections that the pool keeps open.",
        "_max": "Connections that the pool may open.",
    }
    gauges = {suffix: GaugeMetricFamily(PREFIX + suffix, text, labels=LABELS) for suffix, text in families.items()}
    for pool, stats in pools.items():
        size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
        gauges[""].add_metric((pool,), size)
        gauges["_active"].add_metric((pool,), size - idle)
        gauges["_idle"].add_metric((pool,), idle)
        gauges["_pending"].add_metric((pool,), stats.get("requests_waiting", 0))
        gauges["_min"].add_metric((pool,), stats.get("pool_min", 0))
        gauges["_max"].add_metric((pool,), stats.get("pool_max", 0))
    yield from gauges.values()


def _summary(kind: str, text: str, pools: Mapping[str, Mapping[str, int]], count: str, milliseconds: str) -> Metric:
    family = SummaryMetricFamily(f"{PREFIX}_{kind}_seconds", text, labels=LABELS)
    for pool, stats in pools.items():
        family.add_metric((pool,), stats.get(count, 0), stats.get(milliseconds, 0) / 1000)
    return family
