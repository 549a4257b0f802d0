"""Every statement of these pages runs on a real PostgreSQL and does what the page says."""

import uuid
from collections.abc import Iterator
from types import ModuleType

import psycopg
import pytest

from services.agents import agent
from services.docs import DOCS, ROOT, Block, blocks, filled, named
from services.endpoint import endpoint
from services.waiting import until

DEAD_LETTERS = DOCS / "operations" / "dead-letters.md"
WRITING = DOCS / "how-to" / "write-outbox-rows.md"
HTTP = DOCS / "how-to" / "deliver-over-http.md"
DELIVERY = DOCS / "concepts" / "delivery.md"
ORDERING = DOCS / "concepts" / "ordering.md"
DEPLOY = DOCS / "operations" / "deploy.md"
SECURITY = DOCS / "operations" / "security.md"
PAGES = (DEAD_LETTERS, WRITING, HTTP, DELIVERY, ORDERING, DEPLOY, SECURITY, ROOT / "README.md")
EXECUTED = [block for page in PAGES for block in blocks(page, "sql")]

INSERT_DEAD = """INSERT INTO outbox (id, topic, key, payload, headers, state, attempt, last_error)
VALUES (%s, %s, 'order-42', '{"n": 1}', '{"X-A": "1"}', 'dead', 5, 'HTTP 500')"""
INSERT_OLD = """INSERT INTO outbox (topic, payload, state, updated_at)
VALUES ('order.paid', '{}', %s, now() - %s * interval '1 day')"""
STATE = "SELECT state, attempt, last_error FROM outbox WHERE id = %s"

pytestmark = pytest.mark.postgres


@pytest.fixture
def roles(connection: psycopg.Connection) -> Iterator[None]:
    """The database users that the pages speak of."""
    names = ("shop_app", "queuebox_agent")
    for name in names:
        connection.execute(f"DROP ROLE IF EXISTS {name}")
        connection.execute(f"CREATE ROLE {name} LOGIN")
    yield
    connection.execute("RESET ROLE")
    for name in names:
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def dead_row(connection: psycopg.Connection, topic: str = "order.paid") -> uuid.UUID:
    message_id = uuid.uuid4()
    connection.execute(INSERT_DEAD, [message_id, topic])
    return message_id


def execute(
    connection: psycopg.Connection, block: Block, message_id: object = uuid.UUID(int=1)
) -> psycopg.Cursor[tuple[object, ...]]:
    values = {"message_id": message_id, "topic": "order.paid", "limit": 2}
    return connection.execute(filled(block.text, values).encode())


def prepare_for(block: Block, connection: psycopg.Connection) -> None:
    """What the blocks before it on its page have made."""
    for table in (named(WRITING, "orders-table"), named(DELIVERY, "receipts-table")):
        if block != table:
            execute(connection, table)


@pytest.mark.parametrize("block", EXECUTED, ids=str)
def test_a_statement_runs(connection: psycopg.Connection, roles: None, block: Block) -> None:
    prepare_for(block, connection)
    execute(connection, block)


async def test_the_rows_of_the_page_are_delivered(database: str, connection: psycopg.Connection, roles: None) -> None:
    for block in blocks(WRITING, "sql"):
        execute(connection, block)
    row = connection.execute("SELECT count(*) FROM outbox").fetchone()
    assert row is not None
    async with endpoint() as receiver, agent(database, receiver.url):
        await receiver.has_taken(row[0])
    steps = [message.body["step"] for message in receiver.taken if message.key == "order-43"]
    assert steps == [1, 2]


def test_an_application_may_insert_and_nothing_else(connection: psycopg.Connection, roles: None) -> None:
    execute(connection, named(WRITING, "rights"))
    connection.execute("SET ROLE shop_app")
    execute(connection, named(WRITING, "shortest"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT * FROM outbox")


async def test_an_agent_delivers_with_the_rights_of_the_page(
    database: str, connection: psycopg.Connection, roles: None
) -> None:
    execute(connection, named(SECURITY, "agent-rights"))
    execute(connection, named(WRITING, "shortest"))
    settings = {"DATABASE_USERNAME": "queuebox_agent", "DATABASE_MIGRATE": "false"}
    async with endpoint() as receiver, agent(database, receiver.url, **settings):
        await receiver.has_taken(1)


async def test_a_requeued_row_is_delivered(database: str, connection: psycopg.Connection) -> None:
    message_id = dead_row(connection)
    async with endpoint() as receiver, agent(database, receiver.url):
        assert execute(connection, named(DEAD_LETTERS, "requeue-one"), message_id).rowcount == 1
        await receiver.has_taken(1)
        look = named(DEAD_LETTERS, "state-of-one")
        await until(lambda: execute(connection, look, message_id).fetchone() == ("sent", 0, None))
    assert [(message.id, message.attempt) for message in receiver.taken] == [(str(message_id), 0)]


def test_a_row_is_requeued_once(connection: psycopg.Connection) -> None:
    message_id, requeue = dead_row(connection), named(DEAD_LETTERS, "requeue-one")
    assert [execute(connection, requeue, message_id).rowcount for _ in range(2)] == [1, 0]


@pytest.mark.parametrize(("name", "requeued"), [("requeue-topic", 3), ("requeue-some", 2)])
def test_rows_of_a_topic_are_requeued(connection: psycopg.Connection, name: str, requeued: int) -> None:
    for topic in ("order.paid", "order.paid", "order.paid", "order.created"):
        dead_row(connection, topic)
    assert execute(connection, named(DEAD_LETTERS, name)).rowcount == requeued
    assert connection.execute("SELECT count(*) FROM outbox WHERE state = 'dead'").fetchone() == (4 - requeued,)


@pytest.mark.parametrize(
    "name", ["requeue-one", "requeue-topic", "requeue-some", "correct-one", "discard-one"], ids=str
)
def test_only_dead_rows_are_touched(connection: psycopg.Connection, name: str) -> None:
    message_id = dead_row(connection)
    connection.execute("UPDATE outbox SET state = 'processing'")
    assert execute(connection, named(DEAD_LETTERS, name), message_id).rowcount == 0
    assert connection.execute(STATE, [message_id]).fetchone() == ("processing", 5, "HTTP 500")


def test_dead_rows_are_counted_by_topic(connection: psycopg.Connection) -> None:
    for topic in ("order.paid", "order.paid", "order.created"):
        dead_row(connection, topic)
    counted = execute(connection, named(DEAD_LETTERS, "count-dead")).fetchall()
    assert [row[:2] for row in counted] == [("order.paid", 2), ("order.created", 1)]


def test_a_row_is_discarded(connection: psycopg.Connection) -> None:
    message_id = dead_row(connection)
    execute(connection, named(DEAD_LETTERS, "discard-one"), message_id)
    assert connection.execute(STATE, [message_id]).fetchone() is None


def test_only_old_sent_rows_are_deleted(connection: psycopg.Connection) -> None:
    for state, days in (("sent", 8), ("sent", 6), ("dead", 8), ("pending", 8)):
        connection.execute(INSERT_OLD, [state, days])
    assert execute(connection, named(DEPLOY, "delete-sent")).rowcount == 1


def test_a_repeat_leaves_one_receipt(connection: psycopg.Connection) -> None:
    execute(connection, named(DELIVERY, "receipts-table"))
    for _ in range(2):
        execute(connection, named(DELIVERY, "receive-once"))
    assert connection.execute("SELECT count(*) FROM receipts").fetchone() == (1,)


def test_the_psycopg_function_writes_both_rows(connection: psycopg.Connection) -> None:
    execute(connection, named(WRITING, "orders-table"))
    snippet = ModuleType("snippet")
    exec(named(WRITING, "psycopg").text, snippet.__dict__)  # noqa: S102  the page is the code under test
    snippet.create_order(connection, 7, "acme")
    written = connection.execute("SELECT o.status, m.key, m.payload FROM orders o, outbox m").fetchall()
    assert written == [("created", "order-7", {"orderId": 7})]
