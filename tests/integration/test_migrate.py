"""The runner of migrations: order, replicas that start together, failures, rights, schemas (spec pages 14 and 16)."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from queuebox_agent.errors import Misconfigured, Unavailable
from queuebox_agent.store.postgres.bundled import BUNDLED, Migration
from queuebox_agent.store.postgres.connect import conninfo
from queuebox_agent.store.postgres.migrate import LOCK, migrate, pending_sql, refuse_renamed, status
from queuebox_api.names import variable_of
from services.catalog import table
from services.postgres import in_database
from services.schema import apply_migrations, database_config

pytestmark = pytest.mark.postgres

HISTORY = "SELECT version, script, checksum, kind, applied_by FROM queuebox_schema_history ORDER BY version"
BROKEN = Migration(3, "V3__broken.sql", "CREATE TABLE half (id INTEGER); SELECT 1 / 0;")
FILES = [
    "V1__create_outbox.sql",
    "V2__create_inbox.sql",
    "V3__add_claimed_at.sql",
    "V4__add_last_error.sql",
    "V5__add_correlation_id.sql",
    "V6__add_consumption_and_leases.sql",
    "V7__capture_state.sql",
    "V8__add_pull_claim_indexes.sql",
    "V9__add_aggregate_type.sql",
    "V10__add_inbox_headers.sql",
    "V11__add_outbox_sequence.sql",
]


def query(url: str, text: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(text.encode()).fetchall()


def test_the_files_are_those_of_the_page_and_our_own_after_them() -> None:
    assert [migration.file for migration in BUNDLED[:11]] == FILES
    assert [migration.version for migration in BUNDLED] == list(range(1, len(BUNDLED) + 1))


def test_an_empty_database_gets_every_migration_in_order(empty_database: str) -> None:
    assert migrate(empty_database) == list(BUNDLED)


def test_a_migrated_database_is_left_alone(empty_database: str) -> None:
    migrate(empty_database)
    assert migrate(empty_database) == []


def test_the_history_has_a_row_per_migration(empty_database: str) -> None:
    migrate(empty_database)
    rows = query(empty_database, HISTORY)
    assert rows == [(m.version, m.file, m.checksum, "migration", "postgres") for m in BUNDLED]


@pytest.mark.parametrize("isolation", ["read committed", "serializable"])
def test_replicas_that_start_together_apply_each_migration_once(empty_database: str, isolation: str) -> None:
    target = psycopg.conninfo.make_conninfo(
        empty_database, options=f"-c default_transaction_isolation={isolation.replace(' ', chr(92) + ' ')}"
    )
    ready = Barrier(4)

    def start() -> list[Migration]:
        ready.wait()
        return migrate(target)

    with ThreadPoolExecutor(4) as replicas:
        applied = [replicas.submit(start) for _ in range(4)]
    assert sorted(m.version for one in applied for m in one.result()) == [m.version for m in BUNDLED]


def test_the_wait_for_another_replica_is_bounded(empty_database: str) -> None:
    with psycopg.connect(empty_database) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        with pytest.raises(Unavailable, match="another process has been migrating this database for 1 s"):
            migrate(empty_database, lock_wait_seconds=1)


def test_a_stop_ends_the_wait_for_another_replica(empty_database: str) -> None:
    stopping = Event()
    with psycopg.connect(empty_database, autocommit=True) as other, ThreadPoolExecutor(1) as replica:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        waiting = replica.submit(migrate, empty_database, stopping=stopping)
        stopping.set()
        with pytest.raises(Unavailable, match="stopped"):
            waiting.result(10)


def test_a_stop_ends_a_migration_between_two_versions(empty_database: str, caplog: pytest.LogCaptureFixture) -> None:
    stopping, logger = Event(), logging.getLogger("queuebox_agent.store.postgres.migrate")

    def at_the_first_version(_: logging.LogRecord) -> bool:
        stopping.set()
        return True

    logger.addFilter(at_the_first_version)
    try:
        with caplog.at_level(logging.INFO), pytest.raises(Unavailable, match="stopped"):
            migrate(empty_database, stopping=stopping)
    finally:
        logger.removeFilter(at_the_first_version)
    assert [entry.state for entry in status(empty_database)[:3]] == ["applied", "pending", "pending"]


def test_the_wait_for_a_table_is_bounded_because_writers_queue_behind_it(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queuebox_agent.store.postgres.migrate.TABLE_LOCK_WAIT_SECONDS", 1)
    migrate(empty_database, BUNDLED[:11])
    with psycopg.connect(empty_database) as application:
        application.execute("INSERT INTO outbox (topic, payload) VALUES ('a', '{}')")
        with pytest.raises(Unavailable, match=r"V12__flat_claim_indexes.sql was not applied: .* lock timeout"):
            migrate(empty_database)


def test_a_failing_migration_is_named_and_leaves_nothing(empty_database: str) -> None:
    with pytest.raises(Misconfigured, match=r"V3__broken.sql failed .*: division by zero \(SQLSTATE 22012\)"):
        migrate(empty_database, [*BUNDLED[:2], BROKEN])
    assert not table(empty_database, "half").columns
    assert [entry.state for entry in status(empty_database)[:3]] == ["applied", "applied", "pending"]


def test_a_mended_migration_goes_on_where_the_failure_was(empty_database: str) -> None:
    with pytest.raises(Misconfigured):
        migrate(empty_database, [*BUNDLED[:2], BROKEN])
    mended = replace(BROKEN, sql="CREATE TABLE whole (id INTEGER);")
    assert migrate(empty_database, [*BUNDLED[:2], mended]) == [mended]


def test_a_limit_on_statements_of_the_user_does_not_stop_a_migration(empty_database: str) -> None:
    slow = Migration(1, "V1__slow.sql", "SELECT pg_sleep(0.2);")
    target = psycopg.conninfo.make_conninfo(empty_database, options="-c statement_timeout=100")
    assert migrate(target, [slow]) == [slow]


def test_a_user_without_rights_is_told_what_to_do(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("REVOKE CREATE ON SCHEMA public FROM public")
    target = psycopg.conninfo.make_conninfo(empty_database, options="-c role=pg_monitor")
    with pytest.raises(Misconfigured, match=r"V1__create_outbox.sql: permission denied .*queuebox migrate --sql"):
        migrate(target)


def test_a_user_without_rights_may_run_when_nothing_is_pending(empty_database: str) -> None:
    migrate(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("GRANT SELECT ON queuebox_schema_history TO pg_monitor")
    assert migrate(psycopg.conninfo.make_conninfo(empty_database, options="-c role=pg_monitor")) == []


@pytest.mark.parametrize("schema", ["boxes", "My Boxes"])
def test_the_tables_are_created_in_the_first_schema_of_the_connection(empty_database: str, schema: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    target = conninfo(database_config(f'{empty_database}?currentSchema="{schema}",public'))
    migrate(target)
    assert migrate(target) == []
    found = query(empty_database, "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information)'")
    assert found == [(schema,)]


def test_a_schema_that_does_not_exist_is_refused(empty_database: str) -> None:
    target = conninfo(database_config(f"{empty_database}?currentSchema=nowhere"))
    with pytest.raises(Misconfigured, match="none of the schemas"):
        migrate(target)


def test_a_schema_that_may_not_be_used_is_refused_in_words_of_its_own(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("REVOKE USAGE ON SCHEMA public FROM public")
    with pytest.raises(Misconfigured, match="or may be used by this user"):
        migrate(psycopg.conninfo.make_conninfo(empty_database, options="-c role=pg_monitor"))


def test_a_database_without_an_encoding_is_migrated_and_found_unchanged(postgres_url: str) -> None:
    name = f"queuebox_ascii_{uuid4().hex[:8]}"
    target = conninfo(database_config(in_database(postgres_url, name)))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0".encode())
        try:
            migrate(target)
            assert migrate(target) == []
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_a_database_of_a_newer_release_is_used_with_a_warning(
    empty_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    migrate(empty_database, [*BUNDLED, Migration(99, "V99__later.sql", "SELECT 1;")])
    with caplog.at_level(logging.WARNING):
        assert migrate(empty_database) == []
    assert [getattr(record, "unknownVersions", None) for record in caplog.records] == [[99]]


def test_a_database_that_is_away_is_unavailable_and_its_password_is_not_shown(empty_database: str) -> None:
    target = psycopg.conninfo.make_conninfo(empty_database, password="hunter2", port=1)
    with pytest.raises(Unavailable) as failure:
        migrate(target)
    assert "hunter2" not in str(failure.value)


def test_the_status_says_what_is_applied_when_and_what_is_pending(empty_database: str) -> None:
    migrate(empty_database, BUNDLED[:5])
    entries = status(empty_database)
    assert [entry.migration for entry in entries] == list(BUNDLED)
    assert [entry.state for entry in entries] == ["applied"] * 5 + ["pending"] * (len(BUNDLED) - 5)
    assert [entry.applied_at is not None for entry in entries] == [entry.state == "applied" for entry in entries]


def test_the_printed_sql_leaves_what_the_runner_leaves(empty_database: str) -> None:
    migrate(empty_database, BUNDLED[:5])
    with psycopg.connect(empty_database, autocommit=True) as person:
        person.execute(pending_sql(empty_database).encode())
    assert [entry.state for entry in status(empty_database)] == ["applied"] * len(BUNDLED)
    assert migrate(empty_database) == []


def test_the_sql_without_a_database_is_for_an_empty_one(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as person:
        person.execute(pending_sql(None).encode())
    assert migrate(empty_database) == []


def test_there_is_no_sql_when_nothing_is_pending(empty_database: str) -> None:
    apply_migrations(empty_database)
    assert pending_sql(empty_database) == ""


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"outboxTableName": "qb_outbox"}, "database.outboxTableName"),
        ({"inboxTableName": "qb_inbox"}, "database.inboxTableName"),
        ({"columnMapping": {"outbox": {"payload": "body"}}}, "database.columnMapping.outbox.payload"),
        ({"columnMapping": {"inbox": {"idempotencyKey": "dedup"}}}, "database.columnMapping.inbox.idempotencyKey"),
    ],
)
def test_a_renamed_table_or_column_is_refused_by_name(settings: dict[str, object], key: str) -> None:
    with pytest.raises(Misconfigured, match=rf"{key} \({variable_of(tuple(key.split('.')))}\): is a custom name"):
        refuse_renamed(database_config("postgresql://localhost/db", migrate=False, **settings))


def test_the_default_names_are_not_refused() -> None:
    refuse_renamed(database_config("postgresql://localhost/db"))
