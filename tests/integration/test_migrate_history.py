"""Which databases count as migrated: a changed file, the history of the first implementation, a baseline."""

from dataclasses import replace

import psycopg
import pytest

from queuebox_agent.errors import Misconfigured
from queuebox_agent.store.postgres import detect
from queuebox_agent.store.postgres.bundled import BUNDLED
from queuebox_agent.store.postgres.migrate import baseline, migrate, pending_sql, status
from services.schema import apply_files

pytestmark = pytest.mark.postgres

OLDER_TABLE = """CREATE TABLE flyway_schema_history (
  installed_rank INT PRIMARY KEY, version VARCHAR(50), description VARCHAR(200) NOT NULL, type VARCHAR(20) NOT NULL,
  script VARCHAR(1000) NOT NULL, checksum INT, installed_by VARCHAR(100) NOT NULL,
  installed_on TIMESTAMP NOT NULL DEFAULT now(), execution_time INT NOT NULL, success BOOLEAN NOT NULL)"""
OLDER_ROW = """INSERT INTO flyway_schema_history
VALUES ((SELECT count(*) + 1 FROM flyway_schema_history), %s, 'text', %s, %s, 1, 'app', DEFAULT, 5, %s)"""
OlderRow = tuple[str | None, str, str, bool]


def older_history(url: str, *rows: OlderRow) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(OLDER_TABLE)
        for row in rows:
            connection.execute(OLDER_ROW, row)


def applied_by_older(through: int) -> list[OlderRow]:
    return [(str(m.version), "SQL", m.file, True) for m in BUNDLED[:through]]


def states(url: str) -> list[str]:
    return [entry.state for entry in status(url)]


def test_a_file_that_was_changed_after_it_was_applied_is_refused_by_name(empty_database: str) -> None:
    migrate(empty_database)
    changed = replace(BUNDLED[4], sql=BUNDLED[4].sql + "-- one more line\n")
    with pytest.raises(Misconfigured, match=r"V5__add_correlation_id.sql is not the file that was applied on 20"):
        migrate(empty_database, [*BUNDLED[:4], changed, *BUNDLED[5:]])


def test_other_line_ends_are_no_change() -> None:
    migration = BUNDLED[0]
    assert replace(migration, sql=migration.sql.replace("\n", "\r\n")).checksum == migration.checksum


def test_a_complete_older_history_leaves_only_our_own_migrations(empty_database: str) -> None:
    apply_files(empty_database, through=11)
    older_history(empty_database, *applied_by_older(11))
    assert migrate(empty_database) == list(BUNDLED[11:])
    assert states(empty_database) == ["applied"] * len(BUNDLED)


def test_an_older_history_that_stopped_early_is_continued(empty_database: str) -> None:
    apply_files(empty_database, through=6)
    older_history(empty_database, *applied_by_older(6))
    assert migrate(empty_database) == list(BUNDLED[6:])


def test_the_older_history_is_not_written(empty_database: str) -> None:
    apply_files(empty_database, through=6)
    older_history(empty_database, *applied_by_older(6))
    migrate(empty_database)
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("SELECT count(*) FROM flyway_schema_history").fetchone() == (6,)


def test_a_failed_row_of_the_older_history_is_refused(empty_database: str) -> None:
    apply_files(empty_database, through=6)
    older_history(empty_database, *applied_by_older(5), ("6", "SQL", BUNDLED[5].file, False))
    with pytest.raises(Misconfigured, match=r"says that V6__add_consumption_and_leases\.sql failed"):
        migrate(empty_database)


def test_a_baseline_of_the_older_history_means_everything_up_to_it(empty_database: str) -> None:
    apply_files(empty_database, through=7)
    older_history(empty_database, ("7", "BASELINE", "<< Flyway Baseline >>", True))
    assert states(empty_database) == ["baseline"] * 7 + ["pending"] * (len(BUNDLED) - 7)
    assert migrate(empty_database) == list(BUNDLED[7:])


def test_a_version_of_the_older_history_that_is_not_shared_is_none_of_ours(empty_database: str) -> None:
    apply_files(empty_database, through=11)
    older_history(empty_database, *applied_by_older(11), ("12", "SQL", "V12__something_else.sql", True))
    assert migrate(empty_database) == list(BUNDLED[11:])


def test_rows_without_a_version_are_passed_over(empty_database: str) -> None:
    apply_files(empty_database, through=11)
    older_history(empty_database, *applied_by_older(11), (None, "SQL", "R__views.sql", True))
    assert migrate(empty_database) == list(BUNDLED[11:])


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("1", "SQL", "V1__create_customers.sql", True)], id="its own V1"),
        pytest.param([("1", "BASELINE", "<< Flyway Baseline >>", True)], id="only a baseline"),
        pytest.param([("20240101", "SQL", "V20240101__customers.sql", False)], id="dates as versions"),
    ],
)
def test_an_application_that_keeps_such_a_history_for_itself_is_no_obstacle(
    empty_database: str, rows: list[OlderRow]
) -> None:
    older_history(empty_database, *rows)
    assert migrate(empty_database) == list(BUNDLED)
    assert migrate(empty_database) == []


@pytest.mark.parametrize("version", ["1.1", "2024_01", "1.0"])
def test_versions_that_are_no_whole_numbers_make_a_history_somebody_elses(empty_database: str, version: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as application:
        application.execute("CREATE TABLE outbox (id INTEGER)")
    older_history(
        empty_database, ("1", "BASELINE", "<< Flyway Baseline >>", True), (version, "SQL", "V__outbox.sql", True)
    )
    with pytest.raises(Misconfigured, match="but no history"):
        migrate(empty_database)


def test_dates_as_versions_make_a_history_somebody_elses(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as application:
        application.execute("CREATE TABLE outbox (id INTEGER)")
    older_history(
        empty_database,
        ("1", "BASELINE", "<< Flyway Baseline >>", True),
        ("20240101120000", "SQL", "V20240101120000__outbox.sql", True),
    )
    with pytest.raises(Misconfigured, match="but no history"):
        migrate(empty_database)


AS_READER = "-c role=pg_monitor"


def test_a_history_that_may_not_be_read_is_refused_with_the_grant(empty_database: str) -> None:
    migrate(empty_database)
    with pytest.raises(Misconfigured, match="GRANT SELECT ON queuebox_schema_history TO"):
        migrate(psycopg.conninfo.make_conninfo(empty_database, options=AS_READER))


def test_an_older_history_that_may_not_be_read_is_refused_with_the_grant(empty_database: str) -> None:
    apply_files(empty_database, through=11)
    older_history(empty_database, *applied_by_older(11))
    with pytest.raises(Misconfigured, match="GRANT SELECT ON flyway_schema_history TO"):
        status(psycopg.conninfo.make_conninfo(empty_database, options=AS_READER))


def test_an_older_history_that_tells_nothing_new_need_not_be_readable(empty_database: str) -> None:
    migrate(empty_database)
    older_history(empty_database, *applied_by_older(11))
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("GRANT SELECT ON queuebox_schema_history TO pg_monitor")
    assert migrate(psycopg.conninfo.make_conninfo(empty_database, options=AS_READER)) == []


@pytest.mark.parametrize("version", range(1, len(BUNDLED) + 1))
def test_tables_without_a_history_are_refused_with_the_command_to_run(empty_database: str, version: int) -> None:
    apply_files(empty_database, through=version)
    with pytest.raises(Misconfigured, match=rf"like version {version}, .* queuebox migrate --baseline {version}\."):
        migrate(empty_database)


def test_every_bundled_version_has_a_mark() -> None:
    assert len(detect.MARKS) == len(BUNDLED)


@pytest.mark.parametrize("ask", [status, pending_sql])
def test_status_and_sql_refuse_tables_without_a_history_too(empty_database: str, ask: object) -> None:
    apply_files(empty_database, through=2)
    assert callable(ask)
    with pytest.raises(Misconfigured, match="no history"):
        ask(empty_database)


def test_a_baseline_records_without_running_and_the_rest_is_applied_after_it(empty_database: str) -> None:
    apply_files(empty_database, through=9)
    assert baseline(empty_database, 9) == list(BUNDLED[:9])
    assert states(empty_database) == ["baseline"] * 9 + ["pending"] * (len(BUNDLED) - 9)
    assert migrate(empty_database) == list(BUNDLED[9:])


@pytest.mark.parametrize("version", [0, 13, 99])
def test_a_baseline_is_refused_for_a_version_that_is_not_bundled(empty_database: str, version: int) -> None:
    apply_files(empty_database, through=9)
    with pytest.raises(Misconfigured, match=f"--baseline {version}: this release has the versions 1 to {len(BUNDLED)}"):
        baseline(empty_database, version)


def test_a_baseline_is_refused_where_a_history_exists(empty_database: str) -> None:
    migrate(empty_database, BUNDLED[:3])
    with pytest.raises(Misconfigured, match="has a history"):
        baseline(empty_database, 3)


def test_a_baseline_is_refused_where_an_older_history_exists(empty_database: str) -> None:
    apply_files(empty_database, through=11)
    older_history(empty_database, *applied_by_older(11))
    with pytest.raises(Misconfigured, match="has a history"):
        baseline(empty_database, 11)


def test_a_baseline_is_refused_where_there_are_no_tables(empty_database: str) -> None:
    with pytest.raises(Misconfigured, match="has no tables"):
        baseline(empty_database, 11)


def test_a_baseline_below_what_the_tables_have_is_refused(empty_database: str) -> None:
    apply_files(empty_database, through=6)
    with pytest.raises(Misconfigured, match="--baseline 3: the tables look like version 6"):
        baseline(empty_database, 3)


def test_a_baseline_above_what_the_tables_show_is_taken(empty_database: str) -> None:
    apply_files(empty_database, through=6)
    assert baseline(empty_database, 7) == list(BUNDLED[:7])


def test_a_user_who_may_not_record_a_baseline_is_told_what_to_do(empty_database: str) -> None:
    apply_files(empty_database, through=6)
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("REVOKE CREATE ON SCHEMA public FROM public")
    with pytest.raises(Misconfigured, match=r"--baseline: permission denied .* right to create in the schema"):
        baseline(psycopg.conninfo.make_conninfo(empty_database, options=AS_READER), 6)
