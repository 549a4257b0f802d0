import asyncio
from collections.abc import Iterable

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Released
from queuebox_agent.loops.held import HeldRow, HeldRows
from queuebox_agent.loops.settler import Settler


class Release:
    """Hands rows back that no delivery was begun for, so that any agent may claim them at once."""

    def __init__(self, held: HeldRows, settler: Settler) -> None:
        self._held, self._settler = held, settler
        self.tasks: set[asyncio.Task[None]] = set()

    def begin(self, messages: Iterable[OutboxRow]) -> None:
        """Hand back those of the rows that are still held."""
        rows = [row for row in map(self._held.of, messages) if row is not None]
        if rows:
            task = asyncio.create_task(self._hand_back(rows))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def finished(self, seconds: float) -> None:
        """Wait for what was begun, at most so long; what is not reached comes back when its lease ends."""
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=seconds)

    async def _hand_back(self, rows: list[HeldRow]) -> None:
        await asyncio.gather(*(self._settler.settle(row, Released(), urgent=True) for row in rows))
        self._held.remove(row.message for row in rows)
