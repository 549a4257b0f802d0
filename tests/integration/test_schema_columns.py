"""The tables of the reference pages, row by row: pages 28 and 30, PostgreSQL columns."""

from collections.abc import Iterator

import pytest

from queuebox_agent.store.postgres.bundled import BUNDLED
from queuebox_agent.store.postgres.migrate import migrate
from services.catalog import Column, Index, Table, table
from services.postgres import new_database

pytestmark = pytest.mark.postgres

OUTBOX = [
    ("id", "UUID", "no", "gen_random_uuid()"),
    ("topic", "VARCHAR(255)", "no", "none"),
    ("key", "VARCHAR(255)", "yes", "none"),
    ("payload", "JSONB", "no", "none"),
    ("headers", "JSONB", "no", "'{}'"),
    ("aggregate_type", "VARCHAR(255)", "yes", "none"),
    ("state", "VARCHAR(50)", "no", "'pending'"),
    ("attempt", "INTEGER", "no", "0"),
    ("max_attempts", "INTEGER", "no", "5"),
    ("scheduled_at", "TIMESTAMP WITH TIME ZONE", "no", "CURRENT_TIMESTAMP"),
    ("created_at", "TIMESTAMP WITH TIME ZONE", "no", "CURRENT_TIMESTAMP"),
    ("updated_at", "TIMESTAMP WITH TIME ZONE", "no", "CURRENT_TIMESTAMP"),
    ("claimed_at", "TIMESTAMP WITH TIME ZONE", "yes", "none"),
    ("claim_token", "UUID", "yes", "none"),
    ("lease_expires_at", "TIMESTAMPTZ", "yes", "none"),
    ("last_error", "TEXT", "yes", "none"),
    ("sequence", "BIGINT", "no", "nextval('outbox_sequence_seq')"),
]
INBOX = [
    ("id", "UUID", "no", "gen_random_uuid()"),
    ("source", "VARCHAR(255)", "no", "none"),
    ("idempotency_key", "VARCHAR(255)", "no", "none"),
    ("aggregate_id", "VARCHAR(255)", "yes", "none"),
    ("event_type", "VARCHAR(255)", "yes", "none"),
    ("payload", "JSONB", "no", "none"),
    ("headers", "JSONB", "no", "'{}'"),
    ("correlation_id", "VARCHAR(128)", "yes", "none"),
    ("consumption", "VARCHAR(4)", "no", "'push'"),
    ("state", "VARCHAR(50)", "no", "'pending'"),
    ("created_at", "TIMESTAMP WITH TIME ZONE", "no", "CURRENT_TIMESTAMP"),
    ("processed_at", "TIMESTAMP WITH TIME ZONE", "yes", "none"),
    ("scheduled_at", "TIMESTAMPTZ", "no", "CURRENT_TIMESTAMP"),
    ("attempt", "INT", "no", "0"),
    ("last_error", "TEXT", "yes", "none"),
    ("claimed_at", "TIMESTAMP WITH TIME ZONE", "yes", "none"),
    ("claim_token", "UUID", "yes", "none"),
    ("lease_expires_at", "TIMESTAMPTZ", "yes", "none"),
]
OUTBOX_INDEXES = [
    ("outbox_pkey", "id", None),
    ("idx_outbox_pending_scheduled", "state, scheduled_at", "state = 'pending'"),
    ("idx_outbox_topic", "topic", None),
    ("idx_outbox_processing_claimed", "claimed_at", "state = 'processing'"),
    ("idx_outbox_key_sequence", "key, sequence", "state = ANY ARRAY['pending', 'processing']"),
]
OUR_OUTBOX_INDEXES = [
    ("outbox_pkey", "id", None),
    ("idx_outbox_topic", "topic", None),
    ("idx_outbox_unkeyed_due", "scheduled_at, sequence", "state = 'pending' AND key IS NULL OR key = ''"),
    ("idx_outbox_keyed_due", "scheduled_at, sequence", "state = 'pending' AND key <> ''"),
    ("idx_outbox_key_head", "key, sequence", "state = 'pending' AND key <> ''"),
    ("idx_outbox_in_flight", "key, claim_token", "state = 'processing'"),
]
INBOX_INDEXES = [
    ("inbox_pkey", "id", None),
    ("uq_inbox_source_idempotency", "source, idempotency_key", None),
    ("idx_inbox_pending", "state", "state = 'pending'"),
    ("idx_inbox_source", "source", None),
    ("idx_inbox_aggregate_state", "aggregate_id, state", None),
    ("idx_inbox_processing_claimed", "claimed_at", "state = 'processing'"),
    ("idx_inbox_state_created", "state, created_at", None),
    ("idx_inbox_consumption_pending", "consumption, state, scheduled_at", None),
    ("idx_inbox_pull_pending", "source, scheduled_at, created_at, id", "consumption = 'pull' AND state = 'pending'"),
    ("idx_inbox_pull_busy", "source, aggregate_id, lease_expires_at", "consumption = 'pull' AND state = 'processing'"),
]
UNIQUE = {"outbox_pkey", "inbox_pkey", "uq_inbox_source_idempotency"}
FULL_TYPES = {
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "INT": "INTEGER",
    **{f"VARCHAR({size})": f"CHARACTER VARYING({size})" for size in (4, 50, 128, 255)},
}


@pytest.fixture(scope="module", params=[11, 12])
def tables(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[tuple[int, dict[str, Table]]]:
    """Both tables, and the version they were made by."""
    with new_database(postgres_url) as url:
        migrate(url, BUNDLED[: request.param])
        yield request.param, {name: table(url, name) for name in ("outbox", "inbox", "queuebox_capture_state")}


@pytest.mark.parametrize(("name", "row"), [("outbox", row) for row in OUTBOX] + [("inbox", row) for row in INBOX])
def test_a_column_is_as_its_page_says(
    tables: tuple[int, dict[str, Table]], name: str, row: tuple[str, str, str, str]
) -> None:
    column, type_, null, default = row
    expected = Column(FULL_TYPES.get(type_, type_), null == "yes", None if default == "none" else default)
    assert tables[1][name].columns[column] == expected


@pytest.mark.parametrize(("name", "rows"), [("outbox", OUTBOX), ("inbox", INBOX)])
def test_a_table_has_no_other_column(
    tables: tuple[int, dict[str, Table]], name: str, rows: list[tuple[str, str, str, str]]
) -> None:
    assert set(tables[1][name].columns) == {column for column, *_ in rows}


@pytest.mark.parametrize("name", ["outbox", "inbox"])
def test_the_indexes_are_those_of_the_page(tables: tuple[int, dict[str, Table]], name: str) -> None:
    version, found = tables
    rows = INBOX_INDEXES if name == "inbox" else OUTBOX_INDEXES if version == 11 else OUR_OUTBOX_INDEXES
    expected = {index: Index(tuple(columns.split(", ")), index in UNIQUE, filter_) for index, columns, filter_ in rows}
    assert found[name].indexes == expected


def test_the_inbox_has_the_unique_constraint_and_the_check_of_the_page(tables: tuple[int, dict[str, Table]]) -> None:
    constraints = tables[1]["inbox"].constraints
    assert constraints["uq_inbox_source_idempotency"] == "UNIQUE (source, idempotency_key)"
    assert [text for text in constraints.values() if text.startswith("CHECK")] == [
        "CHECK (((consumption)::text = ANY ((ARRAY['push'::character varying, 'pull'::character varying])::text[])))"
    ]


def test_the_capture_state_has_one_row_per_identity(tables: tuple[int, dict[str, Table]]) -> None:
    assert tables[1]["queuebox_capture_state"].constraints == {
        "queuebox_capture_state_pkey": "PRIMARY KEY (identity_name)"
    }
