"""Renewal, loss and reclaim of claims (spec page 03)."""

import psycopg
import pytest

from services.agents import agent, agents
from services.endpoint import Gate, endpoint
from services.outbox import all_sent, insert, states
from services.waiting import until

pytestmark = pytest.mark.postgres

SHORT = {"OUTBOX_CLAIMTIMEOUTMS": 600}
FAILED = 'queuebox_outbox_messages_total{status="failed"}'
LOST = 'queuebox_claims_lost_total{component="outbox"}'
STEAL = "UPDATE outbox SET claim_token = gen_random_uuid(), lease_expires_at = now() + interval '1 hour'"
STALE = """INSERT INTO outbox (topic, payload, state, attempt, claim_token, lease_expires_at)
VALUES ('a', '{"n": 1}', 'processing', 2, gen_random_uuid(), now() - interval '1 second')"""
ORPHAN = "INSERT INTO outbox (topic, payload, state) VALUES ('a', '{\"n\": 1}', 'processing')"
ALL_RENEWED = "SELECT bool_and(lease_expires_at - claimed_at > interval '1.5 seconds') FROM outbox"


async def test_a_publish_longer_than_its_lease_keeps_its_claim(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agents(2, database, receiver.url, **SHORT):
        insert(connection, [1])
        await until(lambda: connection.execute(ALL_RENEWED).fetchone() == (True,), 15, "two renewals")
        gate.open()
        await until(lambda: all_sent(connection))
    assert len(receiver.begun) == 1


async def test_rows_that_wait_in_memory_keep_their_claims(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agents(2, database, receiver.url, OUTBOX_CONCURRENCY=1, **SHORT):
        insert(connection, range(10))
        await until(lambda: states(connection) == {"processing": 10})
        await until(lambda: connection.execute(ALL_RENEWED).fetchone() == (True,), 15, "renewal of every row")
        gate.open()
        await until(lambda: all_sent(connection))
    assert len(receiver.begun) == 10


async def test_a_lost_claim_cancels_the_publish_and_is_no_failed_delivery(
    database: str, connection: psycopg.Connection
) -> None:
    async with endpoint(Gate()) as receiver, agent(database, receiver.url, **SHORT) as process:
        insert(connection, [1])
        await until(lambda: receiver.open == 1)
        connection.execute(STEAL)
        await until(lambda: receiver.open == 0, 5, "the cancelled publish")
        assert (await process.metric(LOST), await process.metric(FAILED)) == (1, 0)
    assert connection.execute("SELECT state, attempt FROM outbox").fetchone() == ("processing", 0)


@pytest.mark.parametrize("left_behind", [STALE, ORPHAN], ids=["an expired lease", "no lease at all"])
async def test_a_stale_claim_comes_back_with_its_attempt_unchanged(
    database: str, connection: psycopg.Connection, left_behind: str
) -> None:
    connection.execute(left_behind)
    before = connection.execute("SELECT attempt FROM outbox").fetchone()
    async with endpoint() as receiver, agent(database, receiver.url) as process:
        await receiver.has_taken(1)
        assert (receiver.taken[0].attempt,) == before
        assert await process.metric("queuebox_outbox_messages_reclaimed_total") == 1


async def test_a_live_lease_of_another_owner_is_left_alone(database: str, connection: psycopg.Connection) -> None:
    connection.execute(STALE.replace("- interval '1 second'", "+ interval '1 hour'"))
    async with endpoint() as receiver, agent(database, receiver.url):
        insert(connection, [2])
        await receiver.has_taken(1)
        assert [message.body["n"] for message in receiver.taken] == [2]
