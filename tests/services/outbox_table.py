"""The outbox table on PostgreSQL beside the store: what the contract suite sets up and looks at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Self
from uuid import UUID

import psycopg
from psycopg.rows import class_row

from contract.outbox_store import Stored
from queuebox_agent.store.postgres.names import OutboxNames, quoted, render

DEFAULT_NAMES = OutboxNames(**{name: quoted(name) for name in OutboxNames.__dataclass_fields__})
# Reserved words, capitals, spaces and quotes.
OTHER_NAMES = OutboxNames(
    **{name: quoted(f'The "{name}"') for name in OutboxNames.__dataclass_fields__}
    | {"outbox": quoted("order"), "key": quoted("group"), "state": quoted("select")}
)
RELATIVE = {"due": "scheduled_at", "lease_ends": "lease_expires_at", "updated": "updated_at", "created": "created_at"}
READ = """SELECT {state} AS state, {attempt} AS attempt, {claim_token} AS claim_token, {last_error} AS last_error,
    {payload}::text AS payload, {headers}::text AS headers,
    extract(epoch FROM {claimed_at} - clock_timestamp())::float8 AS claimed,
    extract(epoch FROM {lease_expires_at} - clock_timestamp())::float8 AS lease_ends,
    extract(epoch FROM {scheduled_at} - clock_timestamp())::float8 AS due,
    extract(epoch FROM {updated_at} - clock_timestamp())::float8 AS updated
FROM {outbox} WHERE {id} = %s"""
REQUEUE = """UPDATE {outbox} SET {state} = 'pending', {attempt} = 0, {scheduled_at} = CURRENT_TIMESTAMP,
    {claimed_at} = NULL, {last_error} = NULL, {updated_at} = CURRENT_TIMESTAMP WHERE {id} = %s"""


class PostgresTable:
    """Values of columns under their default names, in `names`; times as seconds from the database clock."""

    def __init__(self, url: str, names: OutboxNames = DEFAULT_NAMES, *, autocommit: bool = True) -> None:
        self.connection = psycopg.connect(url, autocommit=autocommit)
        self._url = url
        self._names = names

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.connection.close()

    def rename(self) -> None:
        """Give the migrated table and its columns the names."""
        for name, wanted in asdict(self._names).items():
            if name != "outbox" and wanted != quoted(name):
                self._run(f"ALTER TABLE outbox RENAME {name} TO {wanted}")
        if self._names.outbox != quoted("outbox"):
            self._run("ALTER TABLE outbox RENAME TO {outbox}")

    def clear(self) -> None:
        self._run("TRUNCATE {outbox}")

    def insert(self, **values: object) -> UUID:
        columns, expressions = _assignments({"topic": "order.created", "payload": "{}"} | values)
        text = f"INSERT INTO {{outbox}} ({', '.join(columns)}) VALUES ({', '.join(expressions)}) RETURNING {{id}}"  # noqa: S608  names and placeholders
        row: UUID = self._run(text, **values).fetchall()[0][0]
        return row

    def fill(self, rows: int, **values: object) -> None:
        """A key with `{}` gets the number of the row there."""
        columns, expressions = _assignments({"topic": "order.created", "payload": "{}"} | values)
        source = ", ".join(expressions).replace("%(key)s", "replace(%(key)s, '{}', n::text)")
        self._run(
            f"INSERT INTO {{outbox}} ({', '.join(columns)}) SELECT {source} FROM generate_series(1, %(rows)s) n",  # noqa: S608  names and placeholders
            rows=rows,
            **values,
        )

    def change(self, row: UUID, **values: object) -> None:
        changes = ", ".join(f"{column} = {value}" for column, value in zip(*_assignments(values), strict=True))
        self._run(f"UPDATE {{outbox}} SET {changes} WHERE {{id}} = %(row)s", row=row, **values)  # noqa: S608  names and placeholders

    def read(self, row: UUID) -> Stored:
        with self.connection.cursor(row_factory=class_row(Stored)) as cursor:
            (stored,) = cursor.execute(render(READ, self._names).encode(), [row]).fetchall()
        return stored

    def delete(self, row: UUID) -> None:
        self._run("DELETE FROM {outbox} WHERE {id} = %(row)s", row=row)

    def requeue(self, row: UUID) -> None:
        self._run(REQUEUE.replace("%s", "%(row)s"), row=row)

    @contextmanager
    def open(self) -> Iterator[Self]:
        table = type(self)(self._url, self._names, autocommit=False)
        with table.connection:  # which commits and closes
            yield table

    def _run(self, text: str, **values: object) -> psycopg.Cursor[tuple[UUID]]:
        defaults = {"topic": "order.created", "payload": "{}"}
        return self.connection.execute(render(text, self._names).encode(), defaults | values)


def _assignments(values: dict[str, object]) -> tuple[list[str], list[str]]:
    columns = [f"{{{RELATIVE.get(name, name)}}}" for name in values]
    expressions = [
        f"clock_timestamp() + %({name})s::float8 * interval '1 s'" if name in RELATIVE else f"%({name})s"
        for name in values
    ]
    return columns, expressions
