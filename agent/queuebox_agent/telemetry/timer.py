"""Durations as Prometheus summaries: quantiles and the maximum of the last two minutes, count and sum of all time."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ddsketch.ddsketch import LogCollapsingLowestDenseDDSketch as Sketch
from prometheus_client import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

QUANTILES = (0.5, 0.95, 0.99)
WINDOW_SECONDS = 120.0
PARTS = 4
"""The window forgets one part at a time, so it covers between three and four parts of its length."""
ACCURACY = 0.01
"""Largest relative error of a quantile."""


@dataclass(slots=True)
class _Part:
    sketch: Sketch = field(default_factory=lambda: Sketch(ACCURACY))
    largest: float = 0.0


class Timer:
    """One series of durations, in seconds. Memory is bounded; for one thread only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.count = 0
        self.sum = 0.0
        self._clock = clock
        self._parts = deque((_Part() for _ in range(PARTS)), maxlen=PARTS)
        self._part_ends = clock() + WINDOW_SECONDS / PARTS

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        if self._clock() >= self._part_ends:
            self._forget()
        self.count += 1
        self.sum += seconds
        part = self._parts[-1]
        part.sketch.add(seconds)
        part.largest = max(part.largest, seconds)

    def quantiles(self) -> dict[float, float]:
        """The quantiles of the window; NaN while it is empty."""
        self._forget()
        merged = Sketch(ACCURACY)
        for part in self._parts:
            merged.merge(part.sketch)
        values = {quantile: merged.get_quantile_value(quantile) for quantile in QUANTILES}
        return {quantile: math.nan if value is None else value for quantile, value in values.items()}

    def largest(self) -> float:
        """The largest duration of the window; 0.0 while it is empty."""
        self._forget()
        return max(part.largest for part in self._parts)

    def _forget(self) -> None:
        """Open a new part for each one whose time is over."""
        length = WINDOW_SECONDS / PARTS
        over = math.floor((self._clock() - self._part_ends) / length) + 1
        self._parts.extend(_Part() for _ in range(min(over, PARTS)))
        self._part_ends += over * length


class TimerFamily(Collector):
    """The timers of one metric, by label values. Exposes the summary `name` and the gauge `name_max`."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str] = ()) -> None:
        self._name = name
        self._help = help_text
        self._labels = labels
        self._timers: dict[tuple[str, ...], Timer] = {}

    def timer(self, *values: str) -> Timer:
        """The timer of these label values; it shows in the scrape from now on."""
        if (timer := self._timers.get(values)) is None:
            timer = self._timers[values] = Timer()
        return timer

    @override
    def collect(self) -> Iterator[Metric]:
        """What a scrape reads."""
        summary = Metric(self._name, self._help, "summary")
        largest = Metric(f"{self._name}_max", f"{self._help} Largest of the current window.", "gauge")
        for values, timer in self._timers.items():
            labels = dict(zip(self._labels, values, strict=True))
            for quantile, seconds in timer.quantiles().items():
                summary.add_sample(self._name, {**labels, "quantile": str(quantile)}, seconds)
            summary.add_sample(f"{self._name}_count", labels, timer.count)
            summary.add_sample(f"{self._name}_sum", labels, timer.sum)
            largest.add_sample(f"{self._name}_max", labels, timer.largest())
        yield summary
        yield largest
