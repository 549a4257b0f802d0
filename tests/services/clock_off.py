"""Runs the `queuebox` command with a wall clock that is an hour off: `python clock_off.py run`."""

import datetime as dt
import sys
import time

from typing_extensions import override

OFF_SECONDS = float(sys.argv.pop(1))
true_time, true_ns = time.time, time.time_ns
time.time = lambda: true_time() + OFF_SECONDS
time.time_ns = lambda: true_ns() + int(OFF_SECONDS * 1e9)


class Shifted(dt.datetime):
    @classmethod
    @override
    def now(cls, tz: dt.tzinfo | None = None) -> "Shifted":
        return cls.fromtimestamp(time.time(), tz)


dt.datetime = Shifted  # type: ignore[misc]  # the process must see no other clock

from queuebox_agent.cli import main  # noqa: E402  the clock must be off before anything reads it

main()
