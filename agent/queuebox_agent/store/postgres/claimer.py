"""Which rows a claim takes, at a cost that does not grow with the backlog (docs/decisions/0001-flat-claim.md)."""

import time
from collections import OrderedDict
from collections.abc import Collection, Sequence

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.store.postgres.keyed import Keyed
from queuebox_agent.store.postgres.search import Search
from queuebox_agent.store.postgres.session import Session, Sessions
from queuebox_agent.store.postgres.take import Taken, in_order
from queuebox_agent.store.postgres.unkeyed import Unkeyed

LONGEST_SEARCH = 0.5
"""Seconds that a claim goes on looking while it has found nothing and has not seen the end."""
REMEMBERED_SEARCHES = 16


class Claimer:
    """Claims for one process. Rows with and without a key share each claim; what one kind leaves, the other gets."""

    def __init__(self, sessions: Sessions, unkeyed: Unkeyed, keyed: Keyed) -> None:
        self._sessions = sessions
        self._keyed = keyed
        self._kinds = (unkeyed.take, keyed.take)
        self._generation = 0
        self._searches: OrderedDict[frozenset[str], Search] = OrderedDict()

    async def claim(self, limit: int, skip: Collection[str]) -> Sequence[OutboxRow]:
        """As `OutboxStore.claim`."""
        until = time.monotonic() + LONGEST_SEARCH
        rewound = False
        while True:
            async with self._sessions.borrow() as session:
                search = self._search(frozenset(skip))
                taken = await self._look(session, limit, search)
            if taken or time.monotonic() >= until:
                break
            if search.ended:
                if rewound or not search.rewind():
                    break
                rewound = True
        return in_order(taken)

    def _search(self, skip: frozenset[str]) -> Search:
        if self._generation != self._sessions.generation:
            self._generation = self._sessions.generation
            self._searches.clear()
            self._keyed.forget()
        search = self._searches.setdefault(skip, Search(sorted(skip)))
        self._searches.move_to_end(skip)
        if len(self._searches) > REMEMBERED_SEARCHES:
            self._searches.popitem(last=False)
        return search

    async def _look(self, session: Session, limit: int, search: Search) -> list[Taken]:
        """Each kind gets half of the rows, and what the other one leaves. The one that may leave more goes first."""
        first, second = self._kinds
        half = limit - limit // 2
        taken = await first(session, half, search)
        full = len(taken) == half
        if len(taken) < limit:
            taken += await second(session, limit - len(taken), search)
        if full:
            self._kinds = second, first
            if len(taken) < limit:
                taken += await first(session, limit - len(taken), search)
        return taken
