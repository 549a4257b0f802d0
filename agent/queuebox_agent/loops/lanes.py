"""Claimed rows that wait in this process, one lane a destination, and the rule which of them may start.

Half of the slots is divided among the destinations and kept free for each; the other half goes to whoever comes first.
So a destination that hangs can fill its part and the common half, and every other one still has slots of its own. The
same holds for the waiting rows: a lane that has its share is full, and the claim leaves its topics in the table until
it has room. Topics that a full lane has not shown yet still come; what is too much then is handed back.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from queuebox_agent.domain.message import OutboxRow

REMEMBERED_TOPICS = 1_000

Run = deque[OutboxRow]
"""Consecutive rows of one key under one token, or one row without a key. The first is the next to deliver."""


def runs_of(rows: Sequence[OutboxRow]) -> Iterator[Run]:
    """Neighbours of one key are a run; a row without a key is one of its own."""
    run: Run = deque()
    for row in rows:
        if run and (row.key is None or row.key != run[0].key):
            yield run
            run = deque()
        run.append(row)
    if run:
        yield run


@dataclass(slots=True)
class _Lane:
    runs: deque[Run] = field(default_factory=deque)
    waiting: int = 0
    in_flight: int = 0
    topics: dict[str, None] = field(default_factory=dict)


class Lanes:
    """`concurrency`: publishes at once; `capacity`: rows that may wait, both over all destinations."""

    def __init__(self, destinations: Collection[str], concurrency: int, capacity: int) -> None:
        count = max(len(destinations), 1)
        self._lanes = {name: _Lane() for name in destinations}
        self._order = deque(self._lanes)
        self._concurrency = concurrency
        self._capacity = capacity
        self._share = max(capacity // count, 1)
        self._reserve = 0 if count == 1 or count > concurrency else max(concurrency // (2 * count), 1)
        self._most = concurrency if count <= concurrency else max(concurrency // 2, 1)
        self._owed = self._reserve * count
        self.in_flight = 0
        self.waiting = 0
        """Rows that wait, those behind the head of a run in flight among them."""

    @property
    def room(self) -> int:
        """How many rows a claim should bring now. 0 until some lane has less than half of its share: a claim for a few
        rows costs as much as one for many.
        """
        if all(lane.waiting > self._share // 2 for lane in self._lanes.values()):
            return 0
        return self._capacity if len(self._lanes) > 1 else self._capacity - self.waiting

    def full_topics(self) -> list[str]:
        """Topics that no claim should bring now, because their destination holds its share of what may wait."""
        return [topic for name, lane in self._lanes.items() if self.is_full(name) for topic in lane.topics]

    def is_full(self, destination: str) -> bool:
        """Whether a destination among several has its share of what may wait."""
        return len(self._lanes) > 1 and self._lanes[destination].waiting >= self._share

    def put(self, destination: str, run: Run) -> None:
        """Let a run wait, behind what waits already."""
        lane = self._lanes[destination]
        lane.runs.append(run)
        lane.waiting += len(run)
        self.waiting += len(run)
        if run[0].topic not in lane.topics:
            if len(lane.topics) >= REMEMBERED_TOPICS:
                del lane.topics[next(iter(lane.topics))]
            lane.topics[run[0].topic] = None

    def take(self) -> tuple[str, Run] | None:
        """The next run whose head may be published now; its slot is taken. The destinations take turns.

        The rows behind the head go on counting as waiting here until `leave` is called for them.
        """
        if self.in_flight >= self._concurrency:
            return None
        for _ in range(len(self._order)):
            name = self._order[0]
            self._order.rotate(-1)
            lane = self._lanes[name]
            if lane.runs and self._may_start(lane):
                run = lane.runs.popleft()
                self._left(lane, 1)
                self._owed -= lane.in_flight < self._reserve
                lane.in_flight += 1
                self.in_flight += 1
                return name, run
        return None

    def finished(self, destination: str) -> None:
        """Give the slot of a publish back."""
        lane = self._lanes[destination]
        lane.in_flight -= 1
        self.in_flight -= 1
        self._owed += lane.in_flight < self._reserve

    def leave(self, destination: str, rows: int) -> None:
        """The rows behind the head of a taken run wait here no more."""
        self._left(self._lanes[destination], rows)

    def overflow(self) -> Iterator[OutboxRow]:
        """Take out the youngest rows of the fullest lanes, as long as more than twice the capacity waits."""
        while self.waiting > 2 * self._capacity:
            lane = max(self._lanes.values(), key=lambda lane: lane.waiting)
            if lane.waiting <= self._share or not lane.runs:
                return
            run = lane.runs.pop()
            self._left(lane, len(run))
            yield from run

    def drain(self) -> Iterator[OutboxRow]:
        """Take out every row that waits."""
        for lane in self._lanes.values():
            while lane.runs:
                run = lane.runs.popleft()
                self._left(lane, len(run))
                yield from run

    def drop(self, ids: Collection[UUID]) -> list[OutboxRow]:
        """Take out the runs that hold one of these rows: a run is worth nothing when a part of it is lost."""
        dropped: list[OutboxRow] = []
        for lane in self._lanes.values():
            kept: deque[Run] = deque()
            for run in lane.runs:
                if any(row.claim.id in ids for row in run):
                    dropped.extend(run)
                    self._left(lane, len(run))
                else:
                    kept.append(run)
            lane.runs = kept
        return dropped

    def _left(self, lane: _Lane, rows: int) -> None:
        lane.waiting -= rows
        self.waiting -= rows

    def _may_start(self, lane: _Lane) -> bool:
        if lane.in_flight >= self._most:
            return False
        own = max(self._reserve - lane.in_flight, 0)
        return own > 0 or self.in_flight + self._owed < self._concurrency
