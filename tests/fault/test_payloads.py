"""Whatever JSON a row holds arrives as the database prints it."""

import json
from signal import SIGTERM

import psycopg
import pytest

from services.agents import agent
from services.endpoint import endpoint
from services.outbox import states
from services.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.fault]

PAYLOADS = {
    "huge numbers": '{"n": ' + "9" * 400 + ', "small": 0.' + "0" * 50 + "1}",
    "numbers with trailing zeros": '{"amount": 10.5000}',
    "exponents": '{"n": 1e100, "m": -2.50e-3}',
    "any Unicode": json.dumps({"text": "Grüße 你好 \U0001f680 \u202e \u200b \ufffd"}, ensure_ascii=False),
    "escapes": '{"text": "quote \\" back \\\\ newline \\n tab \\t bell \\u0007"}',
    "one mebibyte": json.dumps({"text": "x" * 2**20}),
    "an array": "[1, [2, [3, null, true]]]",
    "a string": '"just text"',
    "a null": "null",
    "deep nesting": "[" * 500 + "]" * 500,
}


@pytest.mark.parametrize("what", PAYLOADS)
async def test_a_payload_arrives_as_the_database_prints_it(
    database: str, connection: psycopg.Connection, what: str
) -> None:
    async with endpoint() as receiver, agent(database, receiver.url):
        connection.execute("INSERT INTO outbox (topic, payload) VALUES ('a', %s::jsonb)", (PAYLOADS[what],))
        await receiver.has_taken(1)
    printed = connection.execute("SELECT payload::text FROM outbox").fetchone()
    assert printed == (receiver.taken[0].text,)


HOSTILE = {
    "a line break": '{"X-Note": "a\\r\\nX-Injected: 1"}',
    "a name with a line break": '{"X-Note\\r\\nX-Injected": "1"}',
    "an array for headers": '["a"]',
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_hostile_row_headers_end_dead_with_a_reason_and_disturb_nobody(
    database: str, connection: psycopg.Connection, what: str
) -> None:
    async with endpoint() as receiver, agent(database, receiver.url) as process:
        connection.execute(
            "INSERT INTO outbox (topic, payload, headers) VALUES ('a', '1', %s::jsonb)", (HOSTILE[what],)
        )
        connection.execute("INSERT INTO outbox (topic, payload) VALUES ('a', '2')")
        await until(lambda: states(connection) == {"dead": 1, "sent": 1})
        process.signal(SIGTERM)
    found = connection.execute("SELECT last_error FROM outbox WHERE state = 'dead'").fetchone()
    assert found is not None
    assert "header" in found[0]
    assert [message.text for message in receiver.begun] == ["2"]
