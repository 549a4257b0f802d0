"""What the demo shows: a live table on a terminal, plain lines elsewhere."""

import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from queuebox_agent.demo.orders import Counts

PLAIN_EVERY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment of the demo."""

    seconds: float
    total_seconds: float
    written: int
    arrived: int
    per_second: float
    refused: int
    duplicates: int
    violations: int
    outbox: Counts = field(default_factory=Counts)

    def cells(self) -> list[tuple[str, str]]:
        """Names and values, in the order in which a row lives."""
        return [
            ("written", f"{self.written:,}"),
            ("waiting", f"{self.outbox.waiting:,}"),
            ("in flight", f"{self.outbox.in_flight:,}"),
            ("sent", f"{self.outbox.sent:,}"),
            ("retried", f"{self.outbox.retried:,}"),
            ("dead", f"{self.outbox.dead:,}"),
            ("rows/s", f"{self.per_second:,.0f}"),
            ("oldest", f"{self.outbox.oldest_age:.1f} s"),
            ("order violations", f"{self.violations:,}"),
        ]


class Screen(Protocol):
    """Something that shows frames while it is entered."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, frame: Frame) -> None:
        """Show one moment."""
        ...


class LiveScreen:
    """Redraws one table in place."""

    def __init__(self) -> None:
        self._live = Live(console=Console(), refresh_per_second=8)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, frame: Frame) -> None:
        """Replace what is shown."""
        table = Table(title="outbox table  ->  agent  ->  receiver that fails, is slow and drops connections")
        for name, _ in frame.cells():
            table.add_column(name, justify="right", style="red" if name in {"dead", "order violations"} else None)
        table.add_row(*(value for _, value in frame.cells()))
        bar = ProgressBar(total=max(frame.written, 1), completed=frame.arrived, width=60)
        note = f"{frame.arrived:,} arrived, {frame.refused:,} refused, {frame.duplicates:,} duplicates dropped"
        clock = f"{frame.seconds:4.1f} s of about {frame.total_seconds:.0f} s"
        self._live.update(Group(table, bar, Text(f"\n{note}"), Text(clock, style="dim")))


class PlainScreen:
    """Prints a line a second, for logs and pipes."""

    def __init__(self) -> None:
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def show(self, frame: Frame) -> None:
        """Print, unless the last line is too young."""
        if frame.seconds < self._next:
            return
        self._next = frame.seconds + PLAIN_EVERY_SECONDS
        print(f"{frame.seconds:5.1f} s  " + "  ".join(f"{name} {value}" for name, value in frame.cells()), flush=True)


def screen() -> Screen:
    """The screen that fits where the output goes."""
    return LiveScreen() if sys.stdout.isatty() else PlainScreen()
