"""V11 numbers the rows that exist, and may be applied again after a failure (spec page 30, edge-cases 3.10)."""

from collections.abc import Iterator

import psycopg
import pytest

from queuebox_agent.store.postgres.bundled import BUNDLED
from queuebox_agent.store.postgres.migrate import migrate

pytestmark = pytest.mark.postgres

V11 = BUNDLED[10].sql.encode()
# Two rows of one moment are told apart by their id.
ROWS = """INSERT INTO outbox (id, topic, payload, created_at) VALUES
('00000000-0000-0000-0000-000000000003', 'third', '{}', '2024-01-02'),
('00000000-0000-0000-0000-000000000002', 'second', '{}', '2024-01-02'),
('00000000-0000-0000-0000-000000000009', 'first', '{}', '2024-01-01'),
('00000000-0000-0000-0000-000000000001', 'fourth', '{}', '2024-01-03')"""
INSERT = "INSERT INTO outbox (topic, payload) VALUES ('new', '{}') RETURNING sequence"
NUMBERS = "SELECT topic, sequence FROM outbox ORDER BY sequence"
NUMBERED = [("first", 1), ("second", 2), ("third", 3), ("fourth", 4)]


@pytest.fixture
def before(empty_database: str) -> Iterator[psycopg.Connection]:
    """A connection to an outbox of version 10 that has rows."""
    migrate(empty_database, BUNDLED[:10])
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(ROWS)
        yield connection


def test_rows_are_numbered_by_creation_and_then_by_id(before: psycopg.Connection) -> None:
    before.execute(V11)
    assert before.execute(NUMBERS).fetchall() == NUMBERED


def test_a_new_row_follows_the_numbered_ones(before: psycopg.Connection) -> None:
    before.execute(V11)
    assert before.execute(INSERT).fetchall() == [(5,)]


def test_the_first_row_of_an_empty_table_has_number_one(before: psycopg.Connection) -> None:
    before.execute("DELETE FROM outbox")
    before.execute(V11)
    assert before.execute(INSERT).fetchall() == [(1,)]


def test_applied_again_it_changes_no_number_and_gives_none_twice(before: psycopg.Connection) -> None:
    before.execute(V11)
    before.execute(INSERT)
    before.execute(V11)
    assert before.execute(NUMBERS).fetchall() == [*NUMBERED, ("new", 5)]
    assert before.execute(INSERT).fetchall() == [(6,)]


def test_applied_again_it_does_not_go_back_behind_numbers_of_deleted_rows(before: psycopg.Connection) -> None:
    before.execute(V11)
    before.execute(INSERT)
    before.execute("DELETE FROM outbox WHERE sequence > 2")
    before.execute(V11)
    assert before.execute(INSERT).fetchall() == [(6,)]


def test_after_a_half_done_attempt_numbering_continues_from_the_highest(before: psycopg.Connection) -> None:
    before.execute("ALTER TABLE outbox ADD COLUMN sequence BIGINT")
    before.execute("UPDATE outbox SET sequence = 10 WHERE topic = 'fourth'")
    before.execute(V11)
    assert before.execute(NUMBERS).fetchall() == [("fourth", 10), ("first", 11), ("second", 12), ("third", 13)]
    assert before.execute(INSERT).fetchall() == [(14,)]


def test_the_sequence_goes_with_the_table(before: psycopg.Connection) -> None:
    before.execute(V11)
    before.execute("DROP TABLE outbox")
    assert before.execute("SELECT to_regclass('outbox_sequence_seq')").fetchall() == [(None,)]
