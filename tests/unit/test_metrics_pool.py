import pytest

from queuebox_agent.telemetry.metrics import Metrics

STATISTICS = {
    "pool_min": 2, "pool_max": 10, "pool_size": 6, "pool_available": 4, "requests_waiting": 3,
    "requests_num": 100, "requests_wait_ms": 2500, "requests_errors": 7,
    "connections_num": 8, "connections_ms": 400, "usage_ms": 9000,
}  # fmt: skip


def exposed(metrics: Metrics) -> str:
    return metrics.exposition().decode()


@pytest.mark.parametrize(
    ("suffix", "value"),
    [
        ("", 6), ("_active", 2), ("_idle", 4), ("_pending", 3), ("_min", 2), ("_max", 10), ("_timeout_total", 7),
        ("_acquire_seconds_count", 100), ("_acquire_seconds_sum", 2.5),
        ("_creation_seconds_count", 8), ("_creation_seconds_sum", 0.4),
        ("_usage_seconds_count", 100), ("_usage_seconds_sum", 9.0),
    ],
)  # fmt: skip
def test_the_statistics_of_the_pool_become_metrics(suffix: str, value: float) -> None:
    metrics = Metrics("1")
    metrics.watch_pool("queuebox", lambda: STATISTICS)
    assert f'queuebox_db_pool_connections{suffix}{{pool="queuebox"}} {float(value)}\n' in exposed(metrics)


def test_a_statistic_that_is_missing_is_zero() -> None:
    metrics = Metrics("1")
    metrics.watch_pool("queuebox", dict)
    assert 'queuebox_db_pool_connections_timeout_total{pool="queuebox"} 0.0\n' in exposed(metrics)


def test_each_pool_has_its_own_series() -> None:
    metrics = Metrics("1")
    metrics.watch_pool("first", lambda: {"pool_size": 1})
    metrics.watch_pool("second", lambda: {"pool_size": 2})
    assert 'queuebox_db_pool_connections{pool="first"} 1.0\n' in exposed(metrics)
    assert 'queuebox_db_pool_connections{pool="second"} 2.0\n' in exposed(metrics)


def test_every_scrape_asks_again() -> None:
    metrics = Metrics("1")
    statistics = {"pool_size": 1}
    metrics.watch_pool("queuebox", lambda: statistics)
    exposed(metrics)
    statistics["pool_size"] = 5
    assert 'queuebox_db_pool_connections{pool="queuebox"} 5.0\n' in exposed(metrics)
