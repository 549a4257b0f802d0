"""Which migrations a database has: our own history, and the one that the first implementation of QueueBox left there.

Both are looked for in the first schema of the connection's search path only, where the migrations create their tables.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import psycopg
from psycopg.rows import class_row

from queuebox_agent.errors import Misconfigured
from queuebox_agent.store.postgres.bundled import Migration

log = logging.getLogger(__name__)

TABLE = "queuebox_schema_history"
OLDER_TABLE = "flyway_schema_history"
# The last version that both implementations ship under one name; what follows is each one's own.
LAST_SHARED = 11

Kind = Literal["migration", "baseline"]

CREATE_TABLE = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
    version     INTEGER PRIMARY KEY,
    description VARCHAR(200) NOT NULL,
    script      VARCHAR(200) NOT NULL,
    checksum    VARCHAR(64) NOT NULL,
    kind        VARCHAR(10) NOT NULL,
    applied_by  VARCHAR(63) NOT NULL DEFAULT CURRENT_USER,
    applied_at  TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP
);
"""
READABLE = """SELECT has_table_privilege(pg_class.oid, 'SELECT')
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = current_schema() AND relname = %s"""
OWN = "SELECT version, kind, checksum, applied_at FROM queuebox_schema_history"
OLDER = """SELECT version, type, script, success, installed_on::timestamptz AS applied_at FROM flyway_schema_history
WHERE type IN ('SQL', 'BASELINE') AND version IS NOT NULL ORDER BY installed_rank"""


@dataclass(frozen=True, slots=True)
class Applied:
    """A version that a history names. `checksum` is None where the older history stands for it."""

    version: int
    kind: Kind
    checksum: str | None
    applied_at: datetime


@dataclass(frozen=True, slots=True)
class _OlderRow:
    version: str
    type: str
    script: str
    success: bool
    applied_at: datetime


def recorded(migration: Migration, kind: Kind = "migration") -> str:
    """The SQL that writes the migration into the history. It is printed for people, too, so it holds its values."""
    values = f"{migration.version}, '{migration.description}', '{migration.file}', '{migration.checksum}', '{kind}'"
    return f"INSERT INTO {TABLE} (version, description, script, checksum, kind)\nVALUES ({values});\n"


def read(connection: psycopg.Connection, bundle: Sequence[Migration]) -> dict[int, Applied]:
    """Every version that counts as applied.

    Raises Misconfigured when an applied file of `bundle` was changed since, when the older history holds a failure, or
    when the user may not read a history.
    """
    own = _own(connection)
    shared = {migration.version: migration for migration in bundle if migration.version <= LAST_SHARED}
    applied = own if shared.keys() <= own.keys() else _older(connection, shared) | own
    changed = [m for m in bundle if m.version in applied and applied[m.version].checksum not in {None, m.checksum}]
    if changed:
        raise Misconfigured(*(_changed(migration, applied[migration.version]) for migration in changed))
    if unknown := sorted(applied.keys() - {migration.version for migration in bundle}):
        log.warning("the database was migrated by a newer release", extra={"unknownVersions": unknown})
    return applied


def _changed(migration: Migration, applied: Applied) -> str:
    return (
        f"{migration.file} is not the file that was applied on {applied.applied_at:%Y-%m-%d %H:%M}: "
        "put it back as it was, a change of the schema takes a new file"
    )


def _own(connection: psycopg.Connection) -> dict[int, Applied]:
    if not _exists(connection, TABLE):
        return {}
    with connection.cursor(row_factory=class_row(Applied)) as cursor:
        return {row.version: row for row in cursor.execute(OWN)}


def _older(connection: psycopg.Connection, shared: Mapping[int, Migration]) -> dict[int, Applied]:
    """What the first implementation applied. It is read and never written."""
    # An application that migrates itself may have a table of this name: without an outbox it is none of ours.
    if _privilege(connection, "outbox") is None or not _exists(connection, OLDER_TABLE):
        return {}
    with connection.cursor(row_factory=class_row(_OlderRow)) as cursor:
        rows = cursor.execute(OLDER).fetchall()
    if not _ours(rows, shared):
        return {}
    if failed := [row for row in rows if not row.success]:
        raise Misconfigured(*(_failed(row) for row in failed))
    return _counted(rows, shared)


def _ours(rows: Sequence[_OlderRow], shared: Mapping[int, Migration]) -> bool:
    if not all(row.version.isdecimal() for row in rows):
        return False  # `1.1` or `2024_01`: the first implementation counts in whole numbers
    scripts = {int(row.version): row.script for row in rows if row.type == "SQL"}
    known = [script == shared[version].file for version, script in scripts.items() if version in shared]
    return all(known) and (bool(known) or not scripts)


def _failed(row: _OlderRow) -> str:
    return (
        f"{OLDER_TABLE} says that {row.script} failed: undo what it left, delete that row and start again, "
        "or set its success to true if all of it is there"
    )


def _counted(rows: Sequence[_OlderRow], shared: Mapping[int, Migration]) -> dict[int, Applied]:
    applied: dict[int, Applied] = {}
    for row in rows:
        version = int(row.version)
        if row.type == "BASELINE":
            applied |= {v: Applied(v, "baseline", None, row.applied_at) for v in shared if v <= version}
        elif version in shared:
            applied[version] = Applied(version, "migration", None, row.applied_at)
    return applied


def _exists(connection: psycopg.Connection, history: str) -> bool:
    """Raises Misconfigured for a history that may not be read: to take it for none would apply everything again."""
    readable = _privilege(connection, history)
    if readable is False:
        raise Misconfigured(
            f"the user of the database may not read {history}, which says what was applied: "
            f"GRANT SELECT ON {history} TO that user"
        )
    return readable is not None


def _privilege(connection: psycopg.Connection, table: str) -> bool | None:
    """Whether the user may read the table; None when there is none."""
    found = connection.execute(READABLE, [table]).fetchone()
    return bool(found[0]) if found else None
