"""What a schema holds and which version that looks like: for a database whose tables no history explains."""

from collections.abc import Collection
from itertools import takewhile

import psycopg

from queuebox_agent.errors import Misconfigured

TABLES = ("outbox", "inbox", "queuebox_capture_state")
# What is there when version 1, 2, 3, … was applied.
MARKS = (
    "outbox",
    "inbox",
    "outbox.claimed_at",
    "outbox.last_error",
    "inbox.correlation_id",
    "inbox.consumption",
    "queuebox_capture_state",
    "idx_inbox_pull_pending",
    "outbox.aggregate_type",
    "inbox.headers",
    "outbox.sequence",
    "idx_outbox_in_flight",
)
PRESENT = """WITH relation AS (
  SELECT pg_class.oid, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = current_schema())
SELECT relname::text FROM relation
UNION ALL SELECT relname || '.' || attname FROM relation JOIN pg_attribute ON attrelid = relation.oid
WHERE relname IN ('outbox', 'inbox') AND NOT attisdropped"""


def present(connection: psycopg.Connection) -> frozenset[str]:
    """The relations of the schema, and the columns of outbox and inbox as `outbox.sequence`.

    Raises Misconfigured when the search path names no schema that exists.
    """
    schema = connection.execute("SELECT current_schema()").fetchone()
    if not schema or schema[0] is None:
        raise Misconfigured(
            "none of the schemas that database.url or the database user names exists or may be used by this user: "
            "create it, or GRANT USAGE, CREATE ON SCHEMA"
        )
    return frozenset(str(name) for (name,) in connection.execute(PRESENT))


def tables(present: Collection[str]) -> list[str]:
    """The tables that have a name of QueueBox's."""
    return [table for table in TABLES if table in present]


def looks_like(present: Collection[str]) -> int:
    """The highest version of which, and of every one before it, something is there; 0 for none."""
    return len(list(takewhile(present.__contains__, MARKS)))
