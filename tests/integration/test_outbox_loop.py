"""The path of a row: claim, route, publish, settle; on a real database, with a real receiver."""

import psycopg
import pytest

from services.agents import agent
from services.endpoint import Gate, Message, endpoint
from services.outbox import all_sent, insert, insert_many, states
from services.waiting import until

pytestmark = pytest.mark.postgres


async def test_a_committed_row_is_delivered_and_marked_sent(database: str, connection: psycopg.Connection) -> None:
    async with endpoint() as receiver, agent(database, receiver.url):
        insert(connection, [1])
        await receiver.has_taken(1)
        await until(lambda: all_sent(connection))


async def test_a_rolled_back_row_is_not_delivered(database: str, connection: psycopg.Connection) -> None:
    async with endpoint() as receiver, agent(database, receiver.url):
        with connection.transaction(force_rollback=True):
            insert(connection, [1])
        insert(connection, [2])
        await receiver.has_taken(1)
        assert [message.body["n"] for message in receiver.taken] == [2]


async def test_the_rows_of_a_key_arrive_in_insert_order_one_at_a_time(
    database: str, connection: psycopg.Connection
) -> None:
    async with endpoint() as receiver, agent(database, receiver.url):
        insert(connection, range(50), key="order-42")
        await receiver.has_taken(50)
    assert (receiver.steps("order-42"), receiver.most_open) == (list(range(50)), 1)


async def test_a_row_that_waits_for_a_retry_holds_its_key_back(database: str, connection: psycopg.Connection) -> None:
    async def refuse_the_first_twice(message: Message) -> int:
        return 503 if message.body["n"] == 1 and message.attempt < 2 else 200

    async with endpoint(refuse_the_first_twice) as receiver, agent(database, receiver.url):
        insert(connection, [1, 2, 3], key="k")
        await receiver.has_taken(3)
    assert receiver.steps("k") == [1, 2, 3]


async def test_a_dead_row_releases_its_key(database: str, connection: psycopg.Connection) -> None:
    async def refuse_one(message: Message) -> int:
        return 500 if message.body["n"] == 1 else 200

    async with endpoint(refuse_one) as receiver, agent(database, receiver.url):
        insert(connection, [1], key="k", ceiling=0)
        insert(connection, [2], key="k")
        await receiver.has_taken(1)
    assert receiver.steps("k") == [2]


async def test_an_empty_key_is_no_key(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agent(database, receiver.url):
        insert(connection, [1, 2], key="")
        await until(lambda: receiver.open == 2)
        gate.open()
        await receiver.has_taken(2)


async def test_a_ceiling_of_five_means_six_deliveries_and_attempt_five(
    database: str, connection: psycopg.Connection
) -> None:
    async def refuse(_: Message) -> int:
        return 500

    async with endpoint(refuse) as receiver, agent(database, receiver.url, OUTBOX_RETRYBASEDELAYMS=1):
        insert(connection, [1])
        await until(lambda: states(connection) == {"dead": 1})
    assert [message.attempt for message in receiver.begun] == [0, 1, 2, 3, 4, 5]
    assert connection.execute("SELECT attempt FROM outbox").fetchone() == (5,)


async def test_a_row_without_a_route_is_dead_at_once_and_says_its_topic(
    database: str, connection: psycopg.Connection
) -> None:
    async with endpoint() as receiver, agent(database, receiver.url, ROUTES_0_TOPICPATTERN="order.*"):
        insert(connection, [1], topic="invoice.paid")
        await until(lambda: states(connection) == {"dead": 1})
    row = connection.execute("SELECT attempt, last_error FROM outbox").fetchone()
    assert row is not None
    assert (row[0], "invoice.paid" in row[1]) == (0, True)


async def test_a_row_without_a_route_does_not_stop_its_key(database: str, connection: psycopg.Connection) -> None:
    async with endpoint() as receiver, agent(database, receiver.url, ROUTES_0_TOPICPATTERN="order.*"):
        insert(connection, [1], key="k", topic="invoice.paid")
        insert(connection, [2], key="k")
        await receiver.has_taken(1)
    assert receiver.steps("k") == [2]


async def test_at_most_concurrency_publishes_run_at_once(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agent(database, receiver.url, OUTBOX_CONCURRENCY=3):
        insert_many(connection, 10)
        await until(lambda: receiver.open == 3)
        gate.open()
        await receiver.has_taken(10)
    assert receiver.most_open == 3


async def test_a_delayed_row_waits_for_its_time(database: str, connection: psycopg.Connection) -> None:
    connection.execute(
        "INSERT INTO outbox (topic, payload, scheduled_at) VALUES ('a', '{}', now() + interval '1 hour')"
    )
    async with endpoint() as receiver, agent(database, receiver.url):
        insert(connection, [2])
        await receiver.has_taken(1)
        await until(lambda: states(connection) == {"sent": 1, "pending": 1})


async def test_the_requeue_statement_of_the_dead_letters_page_delivers_again(
    database: str, connection: psycopg.Connection
) -> None:
    async with endpoint() as receiver, agent(database, receiver.url):
        insert(connection, [1])
        await until(lambda: all_sent(connection))
        connection.execute(
            "UPDATE outbox SET state = 'pending', attempt = 0, scheduled_at = now() WHERE state = 'sent'"
        )
        await until(lambda: len(receiver.taken) == 2)
    assert len(receiver.ids) == 1


async def test_the_first_matching_route_wins(database: str, connection: psycopg.Connection) -> None:
    async with endpoint() as first, endpoint() as second:
        routes = {
            "ROUTES_0_TOPICPATTERN": "invoice.*",
            "ROUTES_1_TOPICPATTERN": "**",
            "ROUTES_1_DESTINATION": "second",
            "DESTINATIONS_SECOND_BASEURL": second.url,
        }
        async with agent(database, first.url, **routes):
            insert(connection, [1], topic="invoice.paid")
            insert(connection, [2], topic="order.paid")
            await first.has_taken(1)
            await second.has_taken(1)
    assert ([m.topic for m in first.taken], [m.topic for m in second.taken]) == (["invoice.paid"], ["order.paid"])


async def test_ten_slow_messages_run_side_by_side(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with endpoint(gate) as receiver, agent(database, receiver.url, OUTBOX_CONCURRENCY=8):
        insert_many(connection, 10)
        await until(lambda: receiver.open == 8)
        gate.open()
        await receiver.has_taken(10)
