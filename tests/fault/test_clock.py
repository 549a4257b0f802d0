"""An agent whose clock is an hour off delivers as every other: all times are the database's."""

from pathlib import Path

import psycopg
import pytest

from services.agents import AgentProcess
from services.endpoint import Message, endpoint
from services.outbox import insert, states
from services.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.fault]

HOUR = 3600.0
DELAYED = "INSERT INTO outbox (topic, payload, scheduled_at) VALUES ('a', '{\"n\": 9}', now() + interval '30 minutes')"


@pytest.mark.parametrize("off", [HOUR, -HOUR])
async def test_an_agent_with_a_wrong_clock(
    database: str, connection: psycopg.Connection, tmp_path: Path, off: float
) -> None:
    async def refuse_first_time(message: Message) -> int:
        return 503 if message.attempt == 0 else 200

    async with endpoint(refuse_first_time) as receiver:
        agent = AgentProcess(database, receiver.url, tmp_path, {}).with_clock_off(off)
        await agent.start()
        try:
            connection.execute(DELAYED)
            insert(connection, [1, 2, 3], key="k")
            await receiver.has_taken(3)
            await until(lambda: states(connection) == {"sent": 3, "pending": 1})
        finally:
            await agent.kill()
    leases = connection.execute("SELECT count(*) FROM outbox WHERE lease_expires_at > now() + interval '6 minutes'")
    assert (receiver.steps("k"), leases.fetchone()) == ([1, 2, 3], (0,))
