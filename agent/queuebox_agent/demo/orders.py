import asyncio
import json
import random
from collections import defaultdict
from dataclasses import dataclass

import psycopg

INSERT_ORDER = (
    "INSERT INTO demo_orders (id, status) VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status"
)
INSERT_MESSAGE = "INSERT INTO outbox (topic, key, payload) VALUES (%s, %s, %s)"
COUNT = """SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'processing'),
  count(*) FILTER (WHERE state = 'sent'), count(*) FILTER (WHERE state = 'dead'), count(*) FILTER (WHERE attempt > 0),
  coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'pending')), 0)::float8 FROM outbox"""
STATUS = ("created", "paid", "packed", "shipped")


@dataclass(frozen=True, slots=True)
class Counts:
    """The outbox at one moment. `oldest_age`: seconds that the oldest waiting row waits."""

    waiting: int = 0
    in_flight: int = 0
    sent: int = 0
    dead: int = 0
    retried: int = 0
    oldest_age: float = 0.0


class Orders:
    """The application of the demo: each step of an order is one transaction with a business row and an outbox row."""

    def __init__(self, connection: psycopg.AsyncConnection, keys: int, chance: random.Random) -> None:
        self._connection, self._keys, self._chance = connection, keys, chance
        self.steps: dict[str, int] = defaultdict(int)
        self.written = 0

    async def prepare(self) -> None:
        """Make the business table."""
        await self._connection.execute(
            "CREATE TABLE IF NOT EXISTS demo_orders (id text PRIMARY KEY, status text NOT NULL)"
        )

    async def write(self, seconds: float, per_second: int) -> None:
        """Write steps of random orders at a steady pace."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while (now := clock() - began) < seconds:
            for _ in range(int(now * per_second) - self.written):
                await self._step(f"order-{self._chance.randrange(self._keys)}")
            await asyncio.sleep(0.02)

    async def _step(self, order: str) -> None:
        step = self.steps[order] + 1
        status = STATUS[step % len(STATUS)]
        body = json.dumps({"order": order, "step": step, "amount": self._chance.randrange(1, 100_000) / 100})
        async with self._connection.transaction():
            await self._connection.execute(INSERT_ORDER, (order, status))
            await self._connection.execute(INSERT_MESSAGE, (f"order.{status}", order, body))
        self.steps[order] = step
        self.written += 1


async def count(connection: psycopg.AsyncConnection) -> Counts:
    """Count the outbox; good for a small table only."""
    row = await (await connection.execute(COUNT)).fetchone()
    return Counts(*row) if row else Counts()
