"""Every metric of the operator (docs/reference/operator-metrics.md). The names are an interface: alerts hold them."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Cause = Literal["conflict", "refused", "unavailable", "deposed", "unexpected"]
"""Why it failed: a write was overtaken; the API server said no; or did not answer; the lease ended; a fault of ours."""

CAUSES: tuple[Cause, ...] = ("conflict", "refused", "unavailable", "deposed", "unexpected")
DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

# Creation times are no part of the format 0.0.4; the library would expose each as one more gauge.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left this function without annotations


class Standing(NamedTuple):
    """One condition of one resource, as a series counts it."""

    kind: str
    condition: str
    status: str


class Metrics:
    """The metrics of one operator process. Label values come from fixed sets, so the number of series is bounded.

    `objects` is asked at each scrape: every condition of every custom resource that the cluster holds.
    """

    def __init__(self, version: str, objects: Callable[[], Iterable[Standing]] = tuple) -> None:
        self._registry = CollectorRegistry()
        self._gauge("queuebox_operator", "Build information; always 1.", "version").labels(version).set(1)
        self.leader = self._gauge("queuebox_operator_leader", "1 while this replica holds the lease.")
        self.queue_depth = self._gauge("queuebox_operator_queue_depth", "Boxes that wait for a reconcile.")
        self.duration = Histogram(
            "queuebox_operator_reconcile_duration_seconds",
            "Time of one reconcile.",
            buckets=DURATIONS,
            registry=self._registry,
        )
        self._register_counters()
        self._registry.register(_Objects(objects))

    def _register_counters(self) -> None:
        self._reconciles = self._counter(
            "queuebox_operator_reconciles_total", "Reconciles by how they ended.", "result"
        )
        for result in ("done", "failed"):
            self._reconciles.labels(result)
        self._errors = self._counter("queuebox_operator_reconcile_errors_total", "Failed reconciles by cause.", "cause")
        for cause in CAUSES:
            self._errors.labels(cause)
        self._writes = self._counter(
            "queuebox_operator_api_writes_total", "Write requests to the API server.", "kind", "verb"
        )
        self._reports = self._counter("queuebox_operator_agent_reports_total", "Agents that were asked.", "result")
        self._reviews = self._counter("queuebox_operator_webhook_reviews_total", "Admission reviews.", "kind", "result")

    def reconciled(self, seconds: float, failed: Cause | None = None) -> None:
        """A reconcile came to its end, or failed and will be tried again."""
        self._reconciles.labels("failed" if failed else "done").inc()
        self.duration.observe(seconds)
        if failed:
            self._errors.labels(failed).inc()

    def wrote(self, kind: str, verb: str) -> None:
        """One write request was sent, whatever its answer."""
        self._writes.labels(kind, verb).inc()

    def asked(self, result: Literal["answered", "failed"]) -> None:
        """One agent was asked for its metrics."""
        self._reports.labels(result).inc()

    def reviewed(self, kind: str, result: Literal["allowed", "denied", "busy"]) -> None:
        """One admission review was answered."""
        self._reviews.labels(kind, result).inc()

    def exposition(self) -> bytes:
        """The scrape, in the format that CONTENT_TYPE names."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self._registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self._registry)


class _Objects(Collector):
    """Counted at the scrape: a gauge that is kept beside the cache could come to differ from it."""

    def __init__(self, standings: Callable[[], Iterable[Standing]]) -> None:
        self._standings = standings

    @override
    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(
            "queuebox_operator_objects", "Custom resources by condition.", labels=Standing._fields
        )
        for standing, count in sorted(Tally(self._standings()).items()):
            family.add_metric(standing, count)
        yield family
