from collections.abc import Iterable
from functools import partial

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Released
from queuebox_agent.loops.held import HeldRows
from queuebox_agent.loops.settler import Settler


class Release:
    """Hands rows back that no delivery was begun for, so that any agent may claim them at once."""

    def __init__(self, held: HeldRows, settler: Settler) -> None:
        self._held, self._settler = held, settler

    def begin(self, messages: Iterable[OutboxRow]) -> None:
        """Hand back those of the rows that are still held and of which nothing is being written yet."""
        for row in filter(None, map(self._held.of, messages)):
            if not row.settling:
                self._settler.settle(row, Released(), partial(self._handed_back, row.message), urgent=True)

    def _handed_back(self, message: OutboxRow, *, won: bool) -> None:  # noqa: ARG002  lost or not, it is not ours now
        self._held.remove([message])
