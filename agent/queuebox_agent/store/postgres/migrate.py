"""Brings a database to this release's schema, says how far it is, and records what was done by hand (spec page 16).

Replicas that start together wait for each other at an advisory lock. It belongs to a transaction, and so does each
migration with its row of history: a failure leaves nothing, and a pooler between here and the database does no harm.
"""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import getitem
from typing import Any, Literal

import psycopg

from queuebox_agent.errors import Misconfigured, Unavailable
from queuebox_agent.store.postgres import detect, history
from queuebox_agent.store.postgres.bundled import BUNDLED, Migration
from queuebox_agent.store.postgres.connect import plain_connection
from queuebox_api.config.database import BUNDLED_NAMES, DatabaseConfig
from queuebox_api.names import Path

log = logging.getLogger(__name__)

LOCK = int.from_bytes(b"queuebox", "big")
LOCK_WAIT_SECONDS = 300
TABLE_LOCK_WAIT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One bundled migration and whether the database has it. `applied_at` is None while it is pending."""

    migration: Migration
    state: Literal["applied", "baseline", "pending"]
    applied_at: datetime | None


def refuse_renamed(database: DatabaseConfig) -> None:
    """Raise Misconfigured when a table or a column is renamed: the files create the default names only."""
    values = database.model_dump(by_alias=True)
    renamed = [".".join(map(str, key)) for key, name in BUNDLED_NAMES.items() if _at(values, key) != name]
    if renamed:
        raise Misconfigured(*(f"database.{key} is a custom name, which no migration creates" for key in renamed))


def migrate(
    conninfo: str, bundle: Sequence[Migration] = BUNDLED, lock_wait_seconds: int = LOCK_WAIT_SECONDS
) -> list[Migration]:
    """Apply what is pending, in order; returns it. Call it in a thread.

    Raises Misconfigured when a person must act (tables without a history, a changed file, SQL that fails, no right to
    change the schema) and Unavailable when another try may help.
    """
    applied = []
    with plain_connection(conninfo) as connection:
        while migration := _apply_next(connection, bundle, lock_wait_seconds):
            applied.append(migration)
    return applied


def status(conninfo: str, bundle: Sequence[Migration] = BUNDLED) -> list[Entry]:
    """Every bundled migration with its state. Raises what `migrate` raises, and changes nothing."""
    with plain_connection(conninfo) as connection:
        return _entries(bundle, _believed_history(connection, bundle))


def baseline(conninfo: str, version: int, bundle: Sequence[Migration] = BUNDLED) -> list[Migration]:
    """Record the versions up to `version` as applied without running them; returns them.

    Raises Misconfigured when the version is not bundled, when there is a history, or when there are no tables.
    """
    if version not in {migration.version for migration in bundle}:
        raise Misconfigured(f"--baseline {version}: this release has the versions 1 to {bundle[-1].version}")
    recorded = [migration for migration in bundle if migration.version <= version]
    with plain_connection(conninfo) as connection, connection.transaction():
        _lock(connection, LOCK_WAIT_SECONDS)
        if history.read(connection, bundle):
            raise Misconfigured("--baseline: the database has a history of migrations, run queuebox migrate without it")
        if not detect.tables(detect.present(connection)):
            raise Misconfigured("--baseline: the database has no tables of QueueBox, run queuebox migrate without it")
        _run(connection, history.CREATE_TABLE + "".join(history.recorded(m, "baseline") for m in recorded))
    return recorded


def pending_sql(conninfo: str | None, bundle: Sequence[Migration] = BUNDLED) -> str:
    """One transaction to apply by hand, which does what `migrate` would do, history included; empty when it is nothing.

    Without a `conninfo` it is for an empty database. Raises what `migrate` raises.
    """
    pending = list(bundle)
    if conninfo is not None:
        pending = [entry.migration for entry in status(conninfo, bundle) if entry.state == "pending"]
    if not pending:
        return ""
    parts = [f"-- {migration.file}\n{migration.sql}\n{history.recorded(migration)}" for migration in pending]
    return "\n".join(["BEGIN;", history.CREATE_TABLE, *parts, "COMMIT;\n"])


def _at(values: Any, key: Path) -> Any:  # noqa: ANN401  a value in a tree of maps
    return reduce(getitem, key, values)


def _entries(bundle: Sequence[Migration], applied: Mapping[int, history.Applied]) -> list[Entry]:
    entries = []
    for migration in bundle:
        found = applied.get(migration.version)
        if found is None:
            entries.append(Entry(migration, "pending", None))
        else:
            entries.append(Entry(migration, "baseline" if found.kind == "baseline" else "applied", found.applied_at))
    return entries


def _apply_next(connection: psycopg.Connection, bundle: Sequence[Migration], wait_seconds: int) -> Migration | None:
    """The first pending migration, applied and recorded; None when there is none."""
    with connection.transaction():
        _lock(connection, wait_seconds)
        applied = _believed_history(connection, bundle)
        pending = next((migration for migration in bundle if migration.version not in applied), None)
        if pending is None:
            return None
        began = time.monotonic()
        try:
            _run(connection, history.CREATE_TABLE + pending.sql + history.recorded(pending))
        except psycopg.errors.InsufficientPrivilege as error:
            raise Misconfigured(_no_right(pending, error)) from None
        except psycopg.OperationalError as error:
            raise Unavailable(
                f"{pending.file} was not applied: {error.diag.message_primary or 'no connection'}"
            ) from None
        except psycopg.Error as error:
            raise Misconfigured(f"{pending.file} failed and nothing of it was kept: {_said(error)}") from None
    took = round(1000 * (time.monotonic() - began))
    log.info("migration applied", extra={"version": pending.version, "file": pending.file, "durationMs": took})
    return pending


def _lock(connection: psycopg.Connection, wait_seconds: int) -> None:
    _run(connection, f"SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '{wait_seconds}s'")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    except psycopg.errors.LockNotAvailable:
        raise Unavailable(f"another process has been migrating this database for {wait_seconds} s") from None
    # A migration that waits for a table holds up the writers behind it: that wait is short.
    _run(connection, f"SET LOCAL lock_timeout = '{TABLE_LOCK_WAIT_SECONDS}s'")


def _believed_history(connection: psycopg.Connection, bundle: Sequence[Migration]) -> dict[int, history.Applied]:
    applied = history.read(connection, bundle)
    present = detect.present(connection)
    if not applied and detect.tables(present):
        raise Misconfigured(_no_history(present))
    return applied


def _no_history(present: Collection[str]) -> str:
    version = detect.looks_like(present)
    return (
        f"the database has {' and '.join(detect.tables(present))}, which look like version {version}, but no history. "
        f"If QueueBox's migrations made them, record that: queuebox migrate --baseline {version or 'N'}. "
        "If you change the schema by hand, set database.migrate to false. "
        "If they belong to something else, name another schema in database.url (currentSchema)"
    )


def _run(connection: psycopg.Connection, sql: str) -> None:
    connection.execute(sql.encode())


def _said(error: psycopg.Error) -> str:
    return f"{error.diag.message_primary or type(error).__name__} (SQLSTATE {error.sqlstate})"


def _no_right(migration: Migration, error: psycopg.Error) -> str:
    return (
        f"{migration.file}: {_said(error)}. Let a user with rights apply it (queuebox migrate --sql prints it), "
        "or give this one the right to create in the schema"
    )
