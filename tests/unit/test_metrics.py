import re
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from queuebox_agent.telemetry.metrics import CONTENT_TYPE, Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics("1.2.3")


def samples(metrics: Metrics) -> dict[str, float]:
    """Every sample by its text up to the value."""
    lines = [line for line in metrics.exposition().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def types(metrics: Metrics) -> dict[str, str]:
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics.exposition().decode(), re.MULTILINE))


def test_the_content_type_is_that_of_the_text_format() -> None:
    assert CONTENT_TYPE == "text/plain; version=0.0.4; charset=utf-8"


def test_the_build_information_is_named_queuebox_without_a_suffix(metrics: Metrics) -> None:
    assert samples(metrics)['queuebox{version="1.2.3"}'] == 1
    assert types(metrics)["queuebox"] == "gauge"


def test_uptime_grows(metrics: Metrics) -> None:
    before = samples(metrics)["queuebox_uptime_seconds"]
    started = time.monotonic()
    while time.monotonic() == started:
        pass
    assert samples(metrics)["queuebox_uptime_seconds"] > before >= 0


@pytest.mark.parametrize(
    "sample",
    [
        'queuebox_outbox_messages_total{status="sent"}',
        'queuebox_outbox_messages_total{status="failed"}',
        'queuebox_outbox_messages_total{status="dead"}',
        "queuebox_outbox_messages_pending",
        "queuebox_outbox_messages_reclaimed_total",
        "queuebox_outbox_process_errors_total",
        "queuebox_outbox_processing_duration_seconds_count",
        "queuebox_outbox_processing_duration_seconds_max",
        "queuebox_outbox_oldest_pending_age_seconds",
    ],
)
def test_a_metric_without_free_labels_is_there_before_its_first_use(metrics: Metrics, sample: str) -> None:
    assert samples(metrics)[sample] == 0


@pytest.mark.parametrize(
    "name",
    [
        "queuebox_claims_lost_total",
        "queuebox_outbox_publish_duration_seconds_count",
        "queuebox_outbox_destination_messages_total",
        "queuebox_outbox_queue_depth",
        "queuebox_http_publish_responses_total",
    ],
)
def test_a_labelled_metric_has_no_sample_before_its_first_use(metrics: Metrics, name: str) -> None:
    assert not [sample for sample in samples(metrics) if sample.startswith(name)]


def test_each_attribute_moves_the_metric_of_its_name(metrics: Metrics) -> None:
    metrics.outbox_messages("dead").inc()
    metrics.pending.set(7)
    metrics.reclaimed.inc(3)
    metrics.oldest_pending_age.set(1.5)
    metrics.claims_lost("outbox").inc(2)
    metrics.process_errors.inc()
    metrics.destination_messages("orders-api", "failure").inc()
    metrics.queue_depth("orders-api").inc(4)
    metrics.queue_depth("orders-api").dec()
    metrics.http_responses("5xx").inc()
    metrics.processing.observe(0.5)
    metrics.publish_duration("http").observe(0.25)

    found = samples(metrics)
    assert {name: found[name] for name in MOVED} == MOVED


MOVED = {
    'queuebox_outbox_messages_total{status="dead"}': 1,
    "queuebox_outbox_messages_pending": 7,
    "queuebox_outbox_messages_reclaimed_total": 3,
    "queuebox_outbox_oldest_pending_age_seconds": 1.5,
    'queuebox_claims_lost_total{component="outbox"}': 2,
    "queuebox_outbox_process_errors_total": 1,
    'queuebox_outbox_destination_messages_total{destination="orders-api",outcome="failure"}': 1,
    'queuebox_outbox_queue_depth{destination="orders-api"}': 3,
    'queuebox_http_publish_responses_total{status_class="5xx"}': 1,
    "queuebox_outbox_processing_duration_seconds_sum": 0.5,
    "queuebox_outbox_processing_duration_seconds_max": 0.5,
    'queuebox_outbox_publish_duration_seconds_count{destination_type="http"}': 1,
    'queuebox_outbox_publish_duration_seconds_max{destination_type="http"}': 0.25,
}


def test_a_counter_keeps_its_suffix_in_the_type_line(metrics: Metrics) -> None:
    assert types(metrics)["queuebox_outbox_messages_total"] == "counter"


def test_no_creation_time_is_exposed(metrics: Metrics) -> None:
    metrics.http_responses("2xx").inc()
    assert "_created" not in metrics.exposition().decode()


@pytest.mark.parametrize("quantile", ["0.5", "0.95", "0.99"])
def test_a_timer_carries_its_quantiles(metrics: Metrics, quantile: str) -> None:
    metrics.processing.observe(2.0)
    sample = f'queuebox_outbox_processing_duration_seconds{{quantile="{quantile}"}}'
    assert samples(metrics)[sample] == pytest.approx(2.0, rel=0.01)
    assert types(metrics)["queuebox_outbox_processing_duration_seconds"] == "summary"


def test_a_hostile_destination_name_does_not_break_the_format(metrics: Metrics) -> None:
    name = 'a"b\\c\nd'
    metrics.queue_depth(name).set(1)
    families = text_string_to_metric_families(metrics.exposition().decode())
    depth = next(family for family in families if family.name == "queuebox_outbox_queue_depth")
    assert [sample.labels["destination"] for sample in depth.samples] == [name]


def test_two_instances_share_nothing(metrics: Metrics) -> None:
    Metrics("other").pending.set(5)
    assert samples(metrics)["queuebox_outbox_messages_pending"] == 0
