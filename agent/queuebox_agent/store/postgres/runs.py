"""Taking runs of keys: consecutive rows of a key under one token, while no row of the key is in flight anywhere."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from queuebox_agent.store.postgres.session import Session
from queuebox_agent.store.postgres.take import Taken, Taker
from queuebox_agent.store.postgres.walk import Ration

REMEMBERED_KEYS = 20_000
HOT = 1_000
"""Rows taken of a key, after which the dead versions of its rows may be too many to step over each time."""


class Memory(NamedTuple):
    """What is known of a key since the last run that was taken of it."""

    token: UUID = UUID(int=0)
    """Of that run. What is in flight of the key now has this token or a later one, or none at all."""
    first: int = 0
    """Where that run began. Only a row that came back or committed late can wait before it."""
    rows: int = 0
    """How many rows were taken of the key."""


NOTHING = Memory()


class Runs:
    """Takes runs of keys, with a memory that spares stepping over the dead versions of rows that were taken before."""

    def __init__(self, taker: Taker, table: str, longest: int, *, remember: bool) -> None:
        self._taker = taker
        self._table = table
        self._longest = longest
        self._remember = remember
        self._memory: dict[str, Memory] = {}
        self._thorough = Ration()

    def forget(self) -> None:
        """Drop what was learned from a server that may no longer be the one that answers."""
        self._memory.clear()

    async def take(self, session: Session, due: Mapping[str, int], limit: int, skip: Sequence[str]) -> list[Taken]:
        """At most `limit` rows of the keys in `due`, which says how many rows of the key to take, or 0: a fair part."""
        if not due:
            return []
        async with session.connection.transaction():
            locked = await session.fetch(
                "outbox_lock_keys",
                table=self._table,
                keys=list(due),
                since=[self._memory.get(key, NOTHING).token for key in due],
            )
            keys = {key: due[key] for (key,) in locked}
            taken = await self._take(session, keys, limit, skip) if keys else []
        self._learn(taken)
        return taken

    async def _take(self, session: Session, due: Mapping[str, int], limit: int, skip: Sequence[str]) -> list[Taken]:
        began, thorough = time.monotonic(), self._thorough.due()
        known = [self._memory.get(key, NOTHING) for key in due]
        taken = await self._taker.take(
            session,
            "outbox_take",
            keys=list(due),
            lengths=self._lengths(due, limit),
            floors=[key.first if key.rows >= HOT and not thorough else 0 for key in known],
            since=[key.token for key in known],
            skip=skip,
            limit=limit,
        )
        if thorough:
            self._thorough.spent(time.monotonic() - began)
        return taken

    def _lengths(self, due: Mapping[str, int], limit: int) -> list[int]:
        without_number = sum(not rows for rows in due.values())
        part = (limit - sum(due.values())) // max(without_number, 1)
        return [max(1, min(rows or part, self._longest)) for rows in due.values()]

    def _learn(self, taken: Iterable[Taken]) -> None:
        if not self._remember:
            return
        if len(self._memory) > REMEMBERED_KEYS:
            self._memory.clear()
        for _, row in taken:
            key, token = row.key or "", row.claim.token
            known = self._memory.get(key, NOTHING)
            first = min(known.first, row.sequence) if known.token == token else row.sequence
            self._memory[key] = Memory(token, first, known.rows + 1)
