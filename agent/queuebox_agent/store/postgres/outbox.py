"""The outbox table on PostgreSQL 14 and later."""

from collections.abc import Collection, Sequence
from uuid import UUID

from queuebox_agent.domain.message import Claim, OutboxRow
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry, Settlement
from queuebox_agent.ports import Backlog
from queuebox_agent.store.postgres.claimer import Claimer
from queuebox_agent.store.postgres.connect import Pool
from queuebox_agent.store.postgres.names import OutboxNames
from queuebox_agent.store.postgres.session import Sessions

RECLAIM_BATCH = 5_000


class PostgresOutbox:
    def __init__(
        self,
        pool: Pool,
        names: OutboxNames,
        lease_seconds: float,
        *,
        run: int = 100,
        prepare: bool = True,
        timeout_seconds: float = 30.0,
    ) -> None:
        self._lease = lease_seconds
        self._sessions = Sessions(pool, names, prepare=prepare, seconds=timeout_seconds)
        self._claimer = Claimer(
            self._sessions, names.outbox, lease_seconds=lease_seconds, longest_run=run, remember=prepare
        )

    async def claim(self, limit: int, skip_topics: Collection[str] = ()) -> Sequence[OutboxRow]:
        return await self._claimer.claim(limit, skip_topics)

    async def settle(self, settlements: Sequence[Settlement]) -> frozenset[UUID]:
        if not settlements:
            return frozenset()
        ordered = sorted(settlements, key=lambda s: s.claim.id.int)
        written = [columns(s.outcome) for s in ordered]
        async with self._sessions.borrow() as session:
            won = await session.fetch(
                "outbox_settle",
                ids=[s.claim.id for s in ordered],
                tokens=[s.claim.token for s in ordered],
                states=[w[0] for w in written],
                delays=[w[1] for w in written],
                reasons=[w[2] for w in written],
            )
        self._claimer.finished(key for _, key in won if key)
        return frozenset(id for id, _ in won)

    async def renew(self, claims: Sequence[Claim]) -> frozenset[UUID]:
        if not claims:
            return frozenset()
        ordered = sorted(claims, key=lambda c: c.id.int)
        async with self._sessions.borrow() as session:
            held = await session.fetch(
                "outbox_renew", ids=[c.id for c in ordered], tokens=[c.token for c in ordered], lease=self._lease
            )
        return frozenset(id for (id,) in held)

    async def reclaim(self) -> int:
        total = 0
        while True:
            async with self._sessions.borrow() as session:
                ((count,),) = await session.fetch("outbox_reclaim", batch=RECLAIM_BATCH)
            total += count
            if count < RECLAIM_BATCH:
                return total

    async def backlog(self) -> Backlog:
        async with self._sessions.borrow() as session:
            ((pending, oldest),) = await session.fetch("outbox_backlog")
        return Backlog(pending, max(0.0, oldest))

    async def ping(self) -> None:
        async with self._sessions.borrow(2.0) as session:
            await session.connection.execute("SELECT 1")


def columns(outcome: Outcome) -> tuple[str, float | None, str | None]:
    match outcome:
        case Delivered():
            return "sent", None, None
        case Retry(delay, reason):
            return "pending", delay, storable(reason)
        case Dead(reason):
            return "dead", None, storable(reason)
        case Released():
            return "pending", None, None


def storable(reason: str) -> str:
    return reason.replace("\0", "").encode("utf-8", "replace").decode()
