"""What was measured on the way: shown at the end of the run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

SHOWN: list[str] = []


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began


def figure(what: str, seconds: float, goal: float) -> None:
    """Keep a figure for the end of the run."""
    SHOWN.append(f"{what}: {seconds:.1f} s (goal: at most {goal:g} s)")


@contextmanager
def timed(what: str, goal: float) -> Iterator[Stopwatch]:
    """Measure what the context takes."""
    watch = Stopwatch()
    yield watch
    figure(what, watch.seconds, goal)
