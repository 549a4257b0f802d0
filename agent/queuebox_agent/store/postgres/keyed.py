"""Finding keys that may be free, and claiming runs of them."""

import time
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from queuebox_agent.store.postgres.runs import Runs
from queuebox_agent.store.postgres.search import Search, behind, steps_of
from queuebox_agent.store.postgres.session import Session
from queuebox_agent.store.postgres.take import Taken
from queuebox_agent.store.postgres.walk import END, START, Place

MOST_KEYS = 1_000
"""Keys that one look by age tries."""
KEY_STEPS = 2_000
"""Keys that one look by key sees."""
REMEMBERED_KEYS = 1_000


class Candidate(NamedTuple):
    """A key of which a look by age saw `due` rows, the first of them at `place`."""

    key: str
    due: int
    place: Place


class Keyed:
    """Takes runs of due keys: those of the oldest rows, those of rows just finished, and where that is not enough
    although more is due, those that come next in the order of the keys.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._finished: dict[str, None] = {}

    def finished(self, keys: Iterable[str]) -> None:
        """Rows of these keys were settled, so the rows behind them may be free."""
        self._finished.update(dict.fromkeys(keys))
        while len(self._finished) > REMEMBERED_KEYS:
            del self._finished[next(iter(self._finished))]

    def forget(self) -> None:
        """Drop what was learned from a server that may no longer be the one that answers."""
        self._runs.forget()

    async def take(self, session: Session, limit: int, search: Search) -> list[Taken]:
        """At most `limit` rows, from one look by age and, if need be, one by key."""
        taken = await self._by_age(session, limit, search)
        if len(taken) < limit and search.by_age.deep and not search.by_key.resting:
            taken += await self._by_key(session, limit - len(taken), search)
        return taken

    async def _by_age(self, session: Session, limit: int, search: Search) -> list[Taken]:
        walk, began = search.by_age, time.monotonic()
        place, steps, barren = walk.begin(), steps_of(walk, limit), walk.barren
        most = min(steps, max(limit, MOST_KEYS))
        records = await session.fetch("outbox_look_by_age", **behind(place), steps=steps, skip=search.skip, most=most)
        seconds = time.monotonic() - began
        found = [Candidate(key, due, Place(at, sequence)) for key, due, at, sequence, *_ in records if key is not None]
        walked, end_at, end_sequence = records[0][4:]
        due = {key: due for key, due, _ in found}
        room = limit if barren else limit - sum(due.values())
        taken = await self._runs.take(session, due | self._just_finished(due, room), limit, search.skip)
        left = _left(found, taken, limit, most)
        end = Place(end_at, end_sequence) if walked else None
        walk.stop(left or end, seconds=seconds, fruitful=bool(taken), ended=walked < steps and left is None)
        return taken

    def _just_finished(self, but: Container[str], most: int) -> dict[str, int]:
        keys = [self._finished.popitem()[0] for _ in range(min(most, len(self._finished)))]
        return {key: 0 for key in keys if key not in but}

    async def _by_key(self, session: Session, limit: int, search: Search) -> list[Taken]:
        walk, began = search.by_key, time.monotonic()
        records = await session.fetch(
            "outbox_look_by_key", after=walk.begin(), steps=KEY_STEPS, skip=search.skip, limit=limit
        )
        seconds = time.monotonic() - began
        due = {key: 0 for key, is_due, *_ in records if is_due}
        taken = await self._runs.take(session, due, limit, search.skip)
        last, _, steps, total, now = records[-1] if records else (None, False, 0, 0, START.at)
        walk.stop(last, seconds=seconds, fruitful=bool(taken), ended=steps < KEY_STEPS and total < limit)
        if walk.saw_all_in_vain:  # spares a walk by age over the whole queue of a busy key
            search.by_age.leave(Place(now, END.sequence))
        return taken


def _left(found: Sequence[Candidate], taken: Sequence[Taken], limit: int, most: int) -> Place | None:
    """The place of the last key that was tried, if there may be others behind it."""
    if len(taken) == limit:
        ours = {row.key for _, row in taken}
        return max((candidate.place for candidate in found if candidate.key in ours), default=None)
    return found[-1].place if len(found) == most else None
