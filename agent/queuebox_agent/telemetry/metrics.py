"""Every metric of the agent (spec page 29; docs/reference/metrics.md). The names are an interface: alerts hold them."""

import time
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics, generate_latest

from queuebox_agent.telemetry.pool import PoolCollector, Statistics
from queuebox_agent.telemetry.timer import Timer, TimerFamily

DeliveryStatus = Literal["sent", "failed", "dead"]
DeliveryResult = Literal["success", "failure"]
STATUSES: tuple[DeliveryStatus, ...] = ("sent", "failed", "dead")

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Creation times are no part of the format 0.0.4; the library would expose each as one more gauge.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left this function without annotations


Child = TypeVar("Child")


class _Children(dict[tuple[str, ...], Child], Generic[Child]):
    """The series of a metric by label values. The library looks one up under a lock, which costs more than counting."""

    def __init__(self, labelled: Callable[..., Child]) -> None:
        self._labelled = labelled

    def __missing__(self, values: tuple[str, ...]) -> Child:
        child = self[values] = self._labelled(*values)
        return child


class Metrics:
    """The metrics of one process. Label values come from the configuration or from a fixed set, so series are bounded.

    What has no label and the outcomes of the outbox are in the scrape from the start; the rest from its first use.
    """

    def __init__(self, version: str) -> None:
        self._registry = CollectorRegistry()
        self._gauge("queuebox", "Build information; always 1.", "version").labels(version).set(1)
        started = time.monotonic()
        uptime = self._gauge("queuebox_uptime_seconds", "Seconds since the process started.")
        uptime.set_function(lambda: time.monotonic() - started)
        self._register_outbox()
        self._register_destinations()
        self._pools = PoolCollector()
        self._registry.register(self._pools)

    def _register_outbox(self) -> None:
        self.pending = self._gauge("queuebox_outbox_messages_pending", "Messages that wait for a publish.")
        self.oldest_pending_age = self._gauge(
            "queuebox_outbox_oldest_pending_age_seconds", "Age of the oldest pending row; 0 when none is pending."
        )
        self.reclaimed = self._counter(
            "queuebox_outbox_messages_reclaimed_total", "Messages that returned to pending after a stale claim."
        )
        self.process_errors = self._counter(
            "queuebox_outbox_process_errors_total", "Errors that stopped the processing of one message."
        )
        self._outbox_messages = self._counters("queuebox_outbox_messages_total", "Delivery outcomes.", "status")
        for status in STATUSES:
            self.outbox_messages(status)
        lost = "Terminal writes that lost the claim: another replica owned the message."
        self._claims_lost = self._counters("queuebox_claims_lost_total", lost, "component")
        processing = self._timers("queuebox_outbox_processing_duration_seconds", "Time to process one message.")
        self.processing = processing.timer()

    def _register_destinations(self) -> None:
        by_outcome = "Messages by destination and outcome."
        self._destination_messages = self._counters(
            "queuebox_outbox_destination_messages_total", by_outcome, "destination", "outcome"
        )
        in_progress = "Messages whose publish to a destination is in progress."
        depth = self._gauge("queuebox_outbox_queue_depth", in_progress, "destination")
        self._queue_depth = _Children(depth.labels)
        answers = "HTTP answers by status class."
        self._http_responses = self._counters("queuebox_http_publish_responses_total", answers, "status_class")
        self._publish_duration = self._timers(
            "queuebox_outbox_publish_duration_seconds", "Time to publish one message.", "destination_type"
        )

    def outbox_messages(self, status: DeliveryStatus) -> Counter:
        """Delivery outcomes. `failed` is a delivery that will be tried again."""
        return self._outbox_messages[status,]

    def claims_lost(self, component: Literal["outbox", "inbox"]) -> Counter:
        """Terminal writes that the fence refused."""
        return self._claims_lost[component,]

    def publish_duration(self, destination_type: str) -> Timer:
        """Time of one publish, by the type of its destination."""
        return self._publish_duration.timer(destination_type)

    def destination_messages(self, destination: str, outcome: DeliveryResult) -> Counter:
        """Publishes by destination name and outcome."""
        return self._destination_messages[destination, outcome]

    def queue_depth(self, destination: str) -> Gauge:
        """Publishes in progress; the caller counts up before and down after each."""
        return self._queue_depth[destination,]

    def http_responses(self, status_class: str) -> Counter:
        """HTTP answers; `status_class` is 1xx, 2xx, 3xx, 4xx, 5xx or other, never a status code."""
        return self._http_responses[status_class,]

    def watch_pool(self, name: str, statistics: Statistics) -> None:
        """Expose a connection pool; `statistics` is the `get_stats` of psycopg_pool."""
        self._pools.watch(name, statistics)

    def exposition(self) -> bytes:
        """The scrape, in the format that CONTENT_TYPE names."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self._registry)

    def _counters(self, name: str, text: str, *labels: str) -> _Children[Counter]:
        return _Children(self._counter(name, text, *labels).labels)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self._registry)

    def _timers(self, name: str, text: str, *labels: str) -> TimerFamily:
        family = TimerFamily(name, text, labels)
        self._registry.register(family)
        return family
