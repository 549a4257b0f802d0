"""Table and column names from the configuration, quoted, and their place in the statement files `sql/*.sql`.

A statement file says `{outbox}` for the outbox table and `{scheduled_at}` for a column: braces around a field name of
`OutboxNames` or `InboxNames`, with the table under the name `outbox` or `inbox`. Nothing else in the file changes, so
`'{}'::jsonb` and `%(limit)s` stay as they are.
"""

import re
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Self

from queuebox_api.config import DatabaseConfig

PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class OutboxNames:
    """Quoted identifiers of the outbox table and of its columns (spec page 24, `database.columnMapping.outbox`)."""

    outbox: str
    id: str
    topic: str
    key: str
    aggregate_type: str
    payload: str
    headers: str
    state: str
    attempt: str
    max_attempts: str
    scheduled_at: str
    created_at: str
    updated_at: str
    claimed_at: str
    claim_token: str
    lease_expires_at: str
    last_error: str
    sequence: str

    @classmethod
    def from_config(cls, database: DatabaseConfig) -> Self:
        """The names that `database` says."""
        columns = database.column_mapping.outbox.model_dump()
        return cls(
            outbox=quoted(database.outbox_table_name), **{name: quoted(column) for name, column in columns.items()}
        )


@dataclass(frozen=True, slots=True)
class InboxNames:
    """Quoted identifiers of the inbox table and of its columns (spec page 24, `database.columnMapping.inbox`)."""

    inbox: str
    id: str
    source: str
    idempotency_key: str
    aggregate_id: str
    event_type: str
    payload: str
    headers: str
    state: str
    consumption: str
    attempt: str
    last_error: str
    scheduled_at: str
    created_at: str
    processed_at: str
    claimed_at: str
    claim_token: str
    lease_expires_at: str
    correlation_id: str

    @classmethod
    def from_config(cls, database: DatabaseConfig) -> Self:
        """The names that `database` says."""
        columns = database.column_mapping.inbox.model_dump()
        return cls(
            inbox=quoted(database.inbox_table_name), **{name: quoted(column) for name, column in columns.items()}
        )


def quoted(identifier: str) -> str:
    """The identifier as SQL takes it whatever it holds: a table named `order` works."""
    return '"' + identifier.replace('"', '""') + '"'


def render(text: str, names: OutboxNames | InboxNames) -> str:
    """The text with every `{name}` replaced; raises KeyError for a name that `names` lacks."""
    values: dict[str, str] = asdict(names)
    return PLACEHOLDER.sub(lambda found: values[found[1]], text)


@cache
def statement(name: str, names: OutboxNames | InboxNames) -> bytes:
    """The statement file `sql/<name>.sql`, rendered, as psycopg's `execute` takes it."""
    text = files("queuebox_agent.store.postgres").joinpath("sql", f"{name}.sql").read_text("utf-8")
    return render(text, names).encode()
