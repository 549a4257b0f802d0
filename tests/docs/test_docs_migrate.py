"""The pages about the schema: what they show is what a database has, and what they tell people to do works."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml

from queuebox_agent.errors import Misconfigured
from queuebox_agent.store.postgres.bundled import BUNDLED
from queuebox_agent.store.postgres.migrate import baseline, migrate, status
from queuebox_agent.store.postgres.schema import check_schema
from services.catalog import Column, Index, table
from services.docs import DOCS, ROOT, Block, named
from services.postgres import newest_programs
from services.schema import apply_files, database_config

MIGRATE = DOCS / "how-to" / "migrate.md"
PAGES = {name: DOCS / "reference" / f"{name}-table.md" for name in ("outbox", "inbox")}

pytestmark = pytest.mark.postgres


def rows(page: Path, heading: str) -> Iterator[list[str]]:
    """The cells of the first table under a heading, without its first two lines."""
    section = page.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def full(type_: str) -> str:
    """The type as the catalog spells it."""
    return type_.replace("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE").replace("VARCHAR", "CHARACTER VARYING")


@pytest.fixture
def shell(empty_database: str, tmp_path: Path) -> Path:
    """A folder like a clone of the repository, to run blocks in; the database is the test's."""
    (tmp_path / "agent").symlink_to(ROOT / "agent")
    return tmp_path


def run(block: Block, url: str, folder: Path) -> str:
    """What the block prints, run as a shell runs it."""
    programs = newest_programs()
    psql = shutil.which("psql") or (programs and shutil.which("psql", path=programs))
    if not psql:
        pytest.skip("no psql program")
    ours = {"DATABASE_URL": url, "DATABASE_USERNAME": "postgres", "DATABASE_PASSWORD": "none"}
    environ = os.environ | {f"QUEUEBOX_{name}": value for name, value in ours.items()} | {"ADMIN_DATABASE_URL": url}
    found_in = [Path(sys.executable).parent, Path(str(psql)).parent, environ["PATH"]]
    environ["PATH"] = os.pathsep.join(map(str, found_in))
    command = ["bash", "-euo", "pipefail", "-c", block.text]
    ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def change(url: str, block: Block) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in block.text.split(";\n"):
            connection.execute(statement.encode())


@pytest.mark.parametrize("name", PAGES)
def test_the_columns_of_the_page_are_those_of_the_table(database: str, name: str) -> None:
    said = {
        column: Column(full(type_), null == "yes", default or None)
        for column, type_, null, default, _ in rows(PAGES[name], "Columns")
    }
    assert said == table(database, name).columns


@pytest.mark.parametrize("name", PAGES)
def test_the_indexes_of_the_page_are_those_of_the_table(database: str, name: str) -> None:
    found = table(database, name).indexes
    said = {
        index: Index(
            tuple(columns.split(", ")), found[index].unique, None if which == "all" else re.sub("[()]", "", which)
        )
        for index, columns, which, *_ in rows(PAGES[name], "Indexes")
    }
    assert said == found


def test_the_files_of_the_page_are_those_of_the_release() -> None:
    assert [row[0] for row in rows(MIGRATE, "Let somebody else do it")] == [migration.file for migration in BUNDLED]


def test_the_runner_of_the_page_migrates(shell: Path, empty_database: str) -> None:
    printed = run(named(MIGRATE, "runner"), empty_database, shell)
    assert printed.count("pending") == len(BUNDLED)
    assert {entry.state for entry in status(empty_database)} == {"applied"}


def test_the_printed_sql_is_applied_with_psql(shell: Path, empty_database: str) -> None:
    migrate(empty_database, BUNDLED[:4])
    run(named(MIGRATE, "sql"), empty_database, shell)
    assert {entry.state for entry in status(empty_database)} == {"applied"}


def test_the_files_applied_with_psql_make_what_the_runner_makes(
    shell: Path, empty_database: str, database: str
) -> None:
    run(named(MIGRATE, "files"), empty_database, shell)
    for name in ("outbox", "inbox", "queuebox_capture_state"):
        assert table(empty_database, name) == table(database, name)
    with pytest.raises(Misconfigured, match=f"--baseline {len(BUNDLED)}"):
        migrate(empty_database)


def test_the_baseline_of_the_page_leads_to_this_release(shell: Path, empty_database: str) -> None:
    apply_files(empty_database, through=11)
    run(named(MIGRATE, "baseline"), empty_database, shell)
    assert [entry.state for entry in status(empty_database)] == ["baseline"] * 11 + ["applied"] * (len(BUNDLED) - 11)


def test_a_baseline_that_is_undone_as_on_the_page_may_be_recorded_anew(empty_database: str) -> None:
    apply_files(empty_database, through=9)
    baseline(empty_database, 11)
    change(empty_database, named(MIGRATE, "undo-baseline"))
    assert baseline(empty_database, 9) == list(BUNDLED[:9])


def test_the_right_of_the_page_lets_an_agent_find_that_nothing_is_pending(database: str) -> None:
    grant = named(MIGRATE, "history-right").text.replace("queuebox_agent", "pg_monitor")
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute(grant.encode())
    assert migrate(psycopg.conninfo.make_conninfo(database, options="-c role=pg_monitor")) == []


def test_indexes_that_were_built_before_are_found_there(empty_database: str, database: str) -> None:
    migrate(empty_database, BUNDLED[:11])
    change(empty_database, named(MIGRATE, "concurrently"))
    migrate(empty_database)
    assert table(empty_database, "outbox") == table(database, "outbox")


def test_the_tables_with_other_names_lack_nothing(empty_database: str) -> None:
    change(empty_database, named(MIGRATE, "custom-tables"))
    settings = yaml.safe_load(named(MIGRATE, "custom-config").text)["database"]
    assert check_schema(empty_database, database_config(empty_database, **settings)) == ()
