"""The outbox table on PostgreSQL 14 and later."""

import secrets
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from queuebox_agent.domain.message import Claim, OutboxRow
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry, Settlement
from queuebox_agent.ports import Backlog
from queuebox_agent.store.postgres.claimer import Claimer
from queuebox_agent.store.postgres.connect import Pool
from queuebox_agent.store.postgres.keyed import Keyed
from queuebox_agent.store.postgres.names import OutboxNames
from queuebox_agent.store.postgres.runs import Runs
from queuebox_agent.store.postgres.session import Sessions
from queuebox_agent.store.postgres.take import INSTANCE_BITS, Taker
from queuebox_agent.store.postgres.unkeyed import Unkeyed

RECLAIM_BATCH = 5_000
PING_SECONDS = 2.0


class PostgresOutbox:
    """`ports.OutboxStore` on an open pool of autocommit connections that run no statements of users: their plans are
    bent towards indexes.

    `lease_seconds`: how long a claim holds. `longest_run`: rows of one key that one claim takes at most.
    `prepare`: False behind a pooler that hands connections around, where claims then cost more.
    `timeout_seconds`: no call waits longer for the server.
    """

    def __init__(
        self,
        pool: Pool,
        names: OutboxNames,
        lease_seconds: float,
        *,
        longest_run: int = 100,
        prepare: bool = True,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.instance = secrets.randbits(INSTANCE_BITS)
        """The second half of every token that this object issues, behind the variant bits."""
        self._lease = lease_seconds
        self._sessions = Sessions(pool, names, prepare=prepare, seconds=timeout_seconds)
        taker = Taker(self.instance, lease_seconds)
        self._keyed = Keyed(Runs(taker, names.outbox, longest_run, remember=prepare))
        self._claimer = Claimer(self._sessions, Unkeyed(taker), self._keyed)

    async def claim(self, limit: int, skip_topics: Collection[str] = ()) -> Sequence[OutboxRow]:
        """As the port says. A claim that is cancelled or fails may leave rows in processing until their lease ends."""
        return await self._claimer.claim(limit, skip_topics)

    async def settle(self, settlements: Sequence[Settlement], *, again: bool = False) -> frozenset[UUID]:
        """As the port says: all in one statement, so all are written or none."""
        if not settlements:
            return frozenset()
        ordered = sorted(settlements, key=lambda settlement: settlement.claim.id.int)
        fence = _fence([settlement.claim for settlement in ordered])
        async with self._sessions.borrow() as session:
            if all(isinstance(settlement.outcome, Delivered) for settlement in ordered):
                written = await session.fetch("outbox_complete", **fence)
            else:
                written = await session.fetch("outbox_settle", **fence, **_columns(ordered, session.charset))
            before = await session.fetch("outbox_settled", **fence) if again else []
        self._keyed.finished(key for _, key in written if key)
        return frozenset(id_ for id_, *_ in (*written, *before))

    async def renew(self, claims: Sequence[Claim]) -> frozenset[UUID]:
        """As the port says, in one statement."""
        if not claims:
            return frozenset()
        ordered = sorted(claims, key=lambda claim: claim.id.int)
        async with self._sessions.borrow() as session:
            held = await session.fetch("outbox_renew", **_fence(ordered), lease=self._lease)
        return frozenset(id_ for (id_,) in held)

    async def reclaim(self) -> int:
        """As the port says, in batches that each commit."""
        total = 0
        while True:
            async with self._sessions.borrow() as session:
                returned: int = (await session.fetch("outbox_reclaim", batch=RECLAIM_BATCH))[0][0]
            total += returned
            if returned < RECLAIM_BATCH:
                return total

    async def backlog(self) -> Backlog:
        """As the port says. Exact, at about 0.2 seconds for a million waiting rows."""
        async with self._sessions.borrow() as session:
            pending, oldest_age = (await session.fetch("outbox_backlog"))[0]
        return Backlog(pending, max(oldest_age, 0.0))

    async def ping(self) -> None:
        """As the port says; raises Unavailable after two seconds."""
        async with self._sessions.borrow(PING_SECONDS) as session:
            await session.connection.execute("SELECT 1")


class _Written(NamedTuple):
    """What an outcome writes; None leaves a column as it is."""

    state: str
    delay: float | None = None
    reason: str | None = None


def _columns(
    settlements: Sequence[Settlement], charset: str
) -> dict[str, list[str] | list[float | None] | list[str | None]]:
    written = [_written(settlement.outcome) for settlement in settlements]
    return {
        "states": [row.state for row in written],
        "delays": [row.delay for row in written],
        "reasons": [None if row.reason is None else _storable(row.reason, charset) for row in written],
    }


def _written(outcome: Outcome) -> _Written:
    match outcome:
        case Delivered():
            return _Written("sent")
        case Retry(delay, reason):
            return _Written("pending", delay, reason)
        case Dead(reason):
            return _Written("dead", reason=reason)
        case Released():
            return _Written("pending")


def _storable(reason: str, charset: str) -> str:
    """Without what the server cannot hold: one such reason would fail the outcomes of all rows beside it."""
    return reason.replace("\0", "").encode(charset, "replace").decode(charset)


def _fence(ordered: Sequence[Claim]) -> dict[str, list[UUID]]:
    return {"ids": [claim.id for claim in ordered], "tokens": [claim.token for claim in ordered]}
