"""Brings a database to this release's schema, says how far it is, and records what was done by hand (spec page 16).

Replicas that start together wait for each other at an advisory lock. It belongs to a transaction, and so does each
migration with its row of history: a failure leaves nothing, and a pooler between here and the database does no harm.
"""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Event
from typing import Literal

import psycopg

from queuebox_agent.errors import Misconfigured, Unavailable
from queuebox_agent.store.postgres import detect, history
from queuebox_agent.store.postgres.bundled import BUNDLED, Migration
from queuebox_agent.store.postgres.connect import plain_connection
from queuebox_api.config.database import DatabaseConfig, renamed
from queuebox_api.names import dotted, variable_of

log = logging.getLogger(__name__)

LOCK = int.from_bytes(b"queuebox", "big")
LOCK_WAIT_SECONDS = 300
LOCK_POLL_SECONDS = 0.2
TABLE_LOCK_WAIT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One bundled migration and whether the database has it. `applied_at` is None while it is pending."""

    migration: Migration
    state: Literal["applied", "baseline", "pending"]
    applied_at: datetime | None


def refuse_renamed(database: DatabaseConfig) -> None:
    """Raise Misconfigured when a table or a column is renamed: the files create the default names only."""
    paths = [("database", *key) for key in renamed(database)]
    if paths:
        raise Misconfigured(
            *(f"{dotted(p)} ({variable_of(p)}): is a custom name, which no migration creates" for p in paths)
        )


def migrate(
    conninfo: str,
    bundle: Sequence[Migration] = BUNDLED,
    lock_wait_seconds: int = LOCK_WAIT_SECONDS,
    stopping: Event | None = None,
) -> list[Migration]:
    """Apply what is pending, in order; returns it. Call it in a thread.

    Ends, with Unavailable, when `stopping` is set while it waits for another process or is between two migrations.
    Raises Misconfigured when a person must act (tables without a history, a changed file, SQL that fails, no right to
    change the schema) and Unavailable when another try may help.
    """
    applied = []
    with plain_connection(conninfo) as connection:
        while migration := _apply_next(connection, bundle, lock_wait_seconds, stopping or Event()):
            applied.append(migration)
    return applied


def status(conninfo: str, bundle: Sequence[Migration] = BUNDLED) -> list[Entry]:
    """Every bundled migration with its state. Raises what `migrate` raises, and changes nothing."""
    with plain_connection(conninfo) as connection:
        return _entries(bundle, _believed_history(connection, bundle))


def baseline(conninfo: str, version: int, bundle: Sequence[Migration] = BUNDLED) -> list[Migration]:
    """Record the versions up to `version` as applied without running them; returns them.

    Raises Misconfigured when the version is not bundled or lower than the tables look, when there is a history, when
    there are no tables, or when the user may not create the history.
    """
    if version not in {migration.version for migration in bundle}:
        raise Misconfigured(f"--baseline {version}: this release has the versions 1 to {bundle[-1].version}")
    recorded = [migration for migration in bundle if migration.version <= version]
    with plain_connection(conninfo) as connection, connection.transaction():
        _lock(connection, LOCK_WAIT_SECONDS, Event())
        if history.read(connection, bundle):
            raise Misconfigured("--baseline: the database has a history of migrations, run queuebox migrate without it")
        present = detect.present(connection)
        if not detect.tables(present):
            raise Misconfigured("--baseline: the database has no tables of QueueBox, run queuebox migrate without it")
        if version < (least := detect.looks_like(present)):
            raise Misconfigured(
                f"--baseline {version}: the tables look like version {least}, and what they have cannot be added again"
            )
        try:
            _run(connection, history.CREATE_TABLE + "".join(history.recorded(m, "baseline") for m in recorded))
        except psycopg.errors.InsufficientPrivilege as error:
            raise Misconfigured(
                f"--baseline: {_said(error)}. Let a user with rights run it, "
                "or give this one the right to create in the schema"
            ) from None
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


def _entries(bundle: Sequence[Migration], applied: Mapping[int, history.Applied]) -> list[Entry]:
    entries = []
    for migration in bundle:
        found = applied.get(migration.version)
        if found is None:
            entries.append(Entry(migration, "pending", None))
        else:
            entries.append(Entry(migration, "baseline" if found.kind == "baseline" else "applied", found.applied_at))
    return entries


def _apply_next(
    connection: psycopg.Connection, bundle: Sequence[Migration], wait_seconds: int, stopping: Event
) -> Migration | None:
    """The first pending migration, applied and recorded; None when there is none."""
    with connection.transaction():
        _lock(connection, wait_seconds, stopping)
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


def _lock(connection: psycopg.Connection, wait_seconds: int, stopping: Event) -> None:
    """Take the lock until the end of the transaction. It is asked for again and again, so that a stop ends the wait."""
    # A migration that waits for a table holds up the writers behind it: that wait is short.
    _run(connection, f"SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '{TABLE_LOCK_WAIT_SECONDS}s'")
    deadline = time.monotonic() + wait_seconds
    while not stopping.is_set():
        found = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK]).fetchone()
        if found and found[0]:
            return
        if time.monotonic() > deadline:
            raise Unavailable(f"another process has been migrating this database for {wait_seconds} s")
        stopping.wait(LOCK_POLL_SECONDS)
    raise Unavailable("the migration was stopped")


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
