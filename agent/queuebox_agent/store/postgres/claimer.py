"""Which rows a claim takes, at a cost that does not grow with the backlog (docs/decisions/0001-flat-claim.md)."""

import itertools
import secrets
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from queuebox_agent.domain.message import Claim, OutboxRow
from queuebox_agent.store.postgres.session import Session, Sessions
from queuebox_agent.store.postgres.walk import END, FEWEST_STEPS, MOST_STEPS, START, Place, Ration, Walk

KEY_STEPS = 2_000
LOOK_SECONDS = 0.2
MOST_SEARCHES, MOST_TOKENS, MOST_FINISHED = 16, 20_000, 1_000
NO_TOKEN = UUID(int=0)


class Run(NamedTuple):
    """The last run of a key."""

    token: UUID = NO_TOKEN
    first: int = 0
    rows: int = 0


class Taken(NamedTuple):
    place: Place
    row: OutboxRow


@dataclass
class Search:
    """How far the search for rows has come; worth something only for the same skipped topics."""

    skip: list[str]
    unkeyed: Walk[Place] = field(default_factory=lambda: Walk(START))
    by_age: Walk[Place] = field(default_factory=lambda: Walk(START))
    by_key: Walk[str] = field(default_factory=lambda: Walk("", whole=True))

    @property
    def ended(self) -> bool:
        return self.unkeyed.ended and self.by_age.ended


class Claimer:
    def __init__(
        self, sessions: Sessions, table: str, *, lease_seconds: float, longest_run: int, remember: bool
    ) -> None:
        self._sessions = sessions
        self._table = table
        self._lease = lease_seconds
        self._longest_run = longest_run
        self._remember = remember
        self._instance = secrets.randbits(62)
        self._searches: OrderedDict[frozenset[str], Search] = OrderedDict()
        self._keyed_first = False
        self._last: dict[str, Run] = {}
        self._strict = Ration()
        self._generation = 0
        self._finished: dict[str, None] = {}

    def finished(self, keys: Iterable[str]) -> None:
        """Rows of these keys were settled: their next rows may be free."""
        self._finished.update(dict.fromkeys(keys))
        while len(self._finished) > MOST_FINISHED:
            del self._finished[next(iter(self._finished))]

    async def claim(self, limit: int, skip: Collection[str]) -> Sequence[OutboxRow]:
        search = self._search(frozenset(skip))
        until = time.monotonic() + LOOK_SECONDS
        while True:
            async with self._sessions.borrow() as session:
                taken = await self._look(session, limit, search)
            if taken or search.ended or time.monotonic() >= until:
                return in_order(taken)

    def _search(self, skip: frozenset[str]) -> Search:
        search = self._searches.pop(skip, None) or Search(list(skip))
        self._searches[skip] = search
        if len(self._searches) > MOST_SEARCHES:
            self._searches.popitem(last=False)
        return search

    async def _look(self, session: Session, limit: int, search: Search) -> list[Taken]:
        first, second = (self._keyed, self._unkeyed) if self._keyed_first else (self._unkeyed, self._keyed)
        half = limit - limit // 2
        taken = await first(session, half, search)
        if len(taken) == half:
            self._keyed_first = not self._keyed_first
        if rest := limit - len(taken):
            taken += await second(session, rest, search)
        return taken

    async def _unkeyed(self, session: Session, limit: int, search: Search) -> list[Taken]:
        walk, began = search.unkeyed, time.monotonic()
        place = walk.begin()
        end = await self._stretch(session, place, _steps(walk, limit)) if search.skip else END
        taken = await self._take(
            session,
            "outbox_claim_unkeyed",
            **_behind(place),
            end_at=end.at,
            end_sequence=end.sequence,
            skip=search.skip,
            limit=limit,
        )
        full = len(taken) == limit
        walk.stop(
            max((t.place for t in taken), default=None) if full or end == END else end,
            seconds=time.monotonic() - began,
            fruitful=bool(taken),
            ended=not full and end == END,
        )
        return taken

    async def _stretch(self, session: Session, place: Place, steps: int) -> Place:
        ends = await session.fetch("outbox_stretch", **_behind(place), steps=steps)
        return Place(*ends[0]) if ends else END

    async def _keyed(self, session: Session, limit: int, search: Search) -> list[Taken]:
        taken = await self._by_age(session, limit, search)
        if len(taken) < limit and search.by_age.deep and not search.by_key.resting:
            taken += await self._by_key(session, limit - len(taken), search)
        return taken

    async def _by_age(self, session: Session, limit: int, search: Search) -> list[Taken]:
        walk, began = search.by_age, time.monotonic()
        place = walk.begin()
        steps, most = _steps(walk, limit), max(limit, FEWEST_STEPS)
        again = [self._finished.popitem()[0] for _ in range(min(limit, len(self._finished)))]
        found = await session.fetch(
            "outbox_look_by_age", **_behind(place), steps=steps, again=again, skip=search.skip, keys=most
        )
        looked = time.monotonic()
        walked, *end = found[0][:3]
        taken = await self._runs(session, {f[3]: f[4] for f in found if f[3]}, limit, search)
        stopped = Place(*end) if walked else None
        ended = walked < steps
        if len(taken) == limit:
            ours = {t.row.key for t in taken}
            stopped = max((Place(*f[5:7]) for f in found if f[4] and f[3] in ours), default=stopped)
            ended = False
        elif len(found) == most and found[-1][4]:
            stopped, ended = Place(*found[-1][5:7]), False
        walk.stop(stopped, seconds=looked - began, fruitful=bool(taken), ended=ended, wide=len(found) < most)
        return taken

    async def _by_key(self, session: Session, limit: int, search: Search) -> list[Taken]:
        walk, began = search.by_key, time.monotonic()
        found = await session.fetch(
            "outbox_look_by_key", after=walk.begin(), steps=KEY_STEPS, limit=limit, skip=search.skip
        )
        looked = time.monotonic()
        taken = await self._runs(session, {f[0]: 0 for f in found if f[1]}, limit, search)
        key, _, steps, total = found[-1] if found else ("", False, 0, 0)
        walk.stop(key, seconds=looked-began, fruitful=bool(taken), ended=steps < KEY_STEPS and total < limit)
        return taken

    async def _runs(self, session: Session, wanted: dict[str, int], limit: int, search: Search) -> list[Taken]:
        if not wanted:
            return []
        if self._generation != self._sessions.generation or len(self._last) > MOST_TOKENS:
            self._generation, self._last = self._sessions.generation, {}
        async with session.connection.transaction():
            locked = await session.fetch(
                "outbox_lock_keys",
                keys=list(wanted),
                since=[self._last.get(key, Run()).token for key in wanted],
                table=self._table,
            )
            keys = {key: wanted[key] for (key,) in locked}
            if not keys:
                return []
            part = (limit - sum(keys.values())) // (list(keys.values()).count(0) or 1)
            last = [self._last.get(key, Run()) for key in keys]
            began, strict = time.monotonic(), self._strict.due()
            taken = await self._take(
                session,
                "outbox_take",
                keys=list(keys),
                lengths=[max(1, min(self._longest_run, due or part)) for due in keys.values()],
                floors=[0 if strict or run.rows < 1000 else run.first for run in last],
                since=[run.token for run in last],
                skip=search.skip,
                limit=limit,
            )
        if strict:
            self._strict.spent(time.monotonic() - began)
        if self._remember:
            taken.sort(key=lambda t: t.place.sequence)
            for key, run in itertools.groupby(sorted(taken, key=lambda t: t.row.key), key=lambda t: t.row.key):
                rows = list(run)
                self._last[key] = Run(rows[0].row.claim.token, rows[0].row.sequence, len(rows) + self._last.get(key, Run()).rows)
        return taken

    async def _take(self, session: Session, name: str, **values: object) -> list[Taken]:
        lease_ends = time.monotonic() + self._lease
        records = await session.fetch(name, **values, lease=self._lease, suffix=self._suffix())
        return [
            Taken(
                Place(at, sequence),
                OutboxRow(
                    claim=Claim(id, token),
                    topic=topic,
                    key=key,
                    aggregate_type=aggregate_type,
                    payload=payload,
                    headers=headers,
                    attempt=attempt,
                    max_attempts=max_attempts,
                    sequence=sequence,
                    lease_ends=lease_ends,
                ),
            )
            for at, id, token, topic, key, aggregate_type, payload, headers, attempt, max_attempts, sequence in records
        ]

    def _suffix(self) -> str:
        return f"8{secrets.randbits(12):03x}{2 << 62 | self._instance:016x}"


def _steps(walk: Walk[Place], limit: int) -> int:
    return max(limit, MOST_STEPS if walk.wide else FEWEST_STEPS)


def _behind(place: Place) -> dict[str, object]:
    return {"at": place.at, "sequence": place.sequence}


def in_order(taken: list[Taken]) -> list[OutboxRow]:
    heads: dict[str, Place] = {}
    for t in taken:
        if t.row.key and (t.row.key not in heads or t.row.sequence < heads[t.row.key].sequence):
            heads[t.row.key] = t.place
    taken.sort(key=lambda t: (heads.get(t.row.key or "", t.place), t.row.sequence))
    return [t.row for t in taken]
