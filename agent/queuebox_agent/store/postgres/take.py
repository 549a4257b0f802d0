"""The statements that make rows ours, and what they return."""

import secrets
import time
from collections.abc import Iterable
from typing import NamedTuple

from queuebox_agent.domain.message import Claim, OutboxRow
from queuebox_agent.store.postgres.session import Session
from queuebox_agent.store.postgres.walk import Place

INSTANCE_BITS = 62


class Taken(NamedTuple):
    """A claimed row and its place in the order of age."""

    place: Place
    row: OutboxRow


class Taker:
    """Takes rows under tokens of `instance`.

    A token is a version 8 UUID: the number of the claim's transaction (48 bits), random bits (12), and behind the
    variant bits the number of the claiming instance (62). Tokens of one key only grow, and whose a row is can be read.
    """

    def __init__(self, instance: int, lease_seconds: float) -> None:
        self._instance = f"{0b10 << INSTANCE_BITS | instance:016x}"
        self._lease = lease_seconds

    async def take(self, session: Session, statement: str, **values: object) -> list[Taken]:
        """Run a statement that claims rows."""
        suffix = f"8{secrets.randbits(12):03x}{self._instance}"
        lease_ends = time.monotonic() + self._lease
        records = await session.fetch(statement, **values, lease=self._lease, suffix=suffix)
        return [
            Taken(
                Place(at, sequence),
                OutboxRow(Claim(id_, token), topic, key, kind, payload, headers, attempt, most, sequence, lease_ends),
            )
            for at, id_, token, topic, key, kind, payload, headers, attempt, most, sequence in records
        ]


def in_order(taken: Iterable[Taken]) -> list[OutboxRow]:
    """The oldest first; the rows of one key stand together at the place of the first of them, by sequence."""
    by_sequence = sorted(taken, key=lambda taken: taken.row.sequence)
    heads: dict[str, Place] = {}
    for place, row in by_sequence:
        if row.key is not None:
            heads.setdefault(row.key, place)
    by_sequence.sort(key=lambda taken: taken.place if taken.row.key is None else heads[taken.row.key])
    return [row for _, row in by_sequence]
