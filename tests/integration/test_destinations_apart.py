"""A slow or dead destination never holds back another one."""

import psycopg
import pytest

from queuebox_agent.demo.postgres import free_port
from services.agents import agent
from services.endpoint import Gate, endpoint
from services.outbox import insert_many, states
from services.waiting import until

pytestmark = pytest.mark.postgres

TWO = {"ROUTES_0_TOPICPATTERN": "order.*", "ROUTES_1_TOPICPATTERN": "**", "ROUTES_1_DESTINATION": "healthy"}
HEALTHY = "INSERT INTO outbox (topic, payload) SELECT 'invoice.paid', '{\"n\": 1}' FROM generate_series(1, %s)"


async def test_a_receiver_that_hangs_holds_back_nobody_behind_it(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with (
        endpoint(gate) as hanging,
        endpoint() as healthy,
        agent(database, hanging.url, DESTINATIONS_HEALTHY_BASEURL=healthy.url, **TWO),
    ):
        insert_many(connection, 20_000)
        await until(lambda: hanging.open > 0)
        connection.execute(HEALTHY, (500,))
        await healthy.has_taken(500, seconds=20)
        assert hanging.taken == []
        gate.open()


async def test_a_receiver_that_is_not_there_holds_back_nobody(database: str, connection: psycopg.Connection) -> None:
    async with endpoint() as healthy:
        nobody = f"http://127.0.0.1:{free_port()}"
        async with agent(
            database, nobody, DESTINATIONS_HEALTHY_BASEURL=healthy.url, OUTBOX_RETRYBASEDELAYMS=1000, **TWO
        ):
            insert_many(connection, 2_000)
            connection.execute(HEALTHY, (200,))
            await healthy.has_taken(200, seconds=20)


async def test_keys_of_a_hanging_receiver_hold_back_no_other_key(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with (
        endpoint(gate) as hanging,
        endpoint() as healthy,
        agent(database, hanging.url, DESTINATIONS_HEALTHY_BASEURL=healthy.url, **TWO),
    ):
        insert_many(connection, 2_000, keys=200)
        await until(lambda: hanging.open > 0)
        connection.execute(
            HEALTHY.replace("(topic, payload)", "(topic, key, payload)").replace("'{", "'h', '{"), (100,)
        )
        await healthy.has_taken(100, seconds=20)
        gate.open()


async def test_two_receivers_that_hang_hold_back_no_third(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    routes = TWO | {"ROUTES_1_TOPICPATTERN": "parcel.*", "ROUTES_1_DESTINATION": "other"}
    routes |= {"ROUTES_2_TOPICPATTERN": "**", "ROUTES_2_DESTINATION": "healthy"}
    async with endpoint(gate) as hanging, endpoint() as healthy:
        urls = {"DESTINATIONS_HEALTHY_BASEURL": healthy.url, "DESTINATIONS_OTHER_BASEURL": hanging.url}
        async with agent(database, hanging.url, **urls, **routes):
            insert_many(connection, 3_000)
            connection.execute(HEALTHY.replace("invoice.paid", "parcel.sent"), (3_000,))
            await until(lambda: hanging.open > 3)
            connection.execute(HEALTHY, (300,))
            await healthy.has_taken(300, seconds=20)
            gate.open()


async def test_a_receiver_that_hangs_with_hundreds_of_topics(database: str, connection: psycopg.Connection) -> None:
    gate = Gate()
    async with (
        endpoint(gate) as hanging,
        endpoint() as healthy,
        agent(database, hanging.url, DESTINATIONS_HEALTHY_BASEURL=healthy.url, **TWO),
    ):
        connection.execute(HEALTHY.replace("'invoice.paid'", "'order.' || generate_series %% 800"), (3_000,))
        await until(lambda: hanging.open > 0)
        connection.execute(HEALTHY, (100,))
        await healthy.has_taken(100, seconds=30)
        assert states(connection)["processing"] <= 300
        gate.open()
