"""Claiming rows without a key, the oldest first."""

import time

from queuebox_agent.store.postgres.search import Search, behind, steps_of
from queuebox_agent.store.postgres.session import Session
from queuebox_agent.store.postgres.take import Taken, Taker
from queuebox_agent.store.postgres.walk import END, Place


class Unkeyed:
    """Takes due rows whose key is null or empty."""

    def __init__(self, taker: Taker) -> None:
        self._taker = taker

    async def take(self, session: Session, limit: int, search: Search) -> list[Taken]:
        """At most `limit` rows, from one look."""
        walk, began = search.unkeyed, time.monotonic()
        place = walk.begin()
        end = await self._stretch(session, place, steps_of(walk, limit)) if search.skip else END
        taken = await self._taker.take(
            session,
            "outbox_claim_unkeyed",
            **behind(place),
            end_at=end.at,
            end_sequence=end.sequence,
            skip=search.skip,
            limit=limit,
        )
        full = len(taken) == limit
        last = max((place for place, _ in taken), default=None)
        walk.stop(
            last if full or end == END else end,
            seconds=time.monotonic() - began,
            fruitful=bool(taken),
            ended=not full and end == END,
        )
        return taken

    async def _stretch(self, session: Session, place: Place, steps: int) -> Place:
        """Where to stop, so that one claim steps over a bounded number of rows of skipped topics."""
        ends = await session.fetch("outbox_stretch", **behind(place), steps=steps)
        return Place(*ends[0]) if ends else END
