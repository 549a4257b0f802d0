"""What an application does with the outbox, and what an operator looks at."""

from collections import Counter
from collections.abc import Sequence

import psycopg

INSERT = "INSERT INTO outbox (topic, key, payload, max_attempts) VALUES (%s, %s, jsonb_build_object('n', %s::int), %s)"
MANY = """INSERT INTO outbox (topic, key, payload) SELECT 'order.created',
  CASE WHEN %(keys)s = 0 THEN NULL ELSE 'k' || (n - 1) %% greatest(%(keys)s, 1) END, jsonb_build_object('n', n)
  FROM generate_series(1, %(rows)s) n"""


def insert(
    connection: psycopg.Connection,
    numbers: Sequence[int],
    key: str | None = None,
    topic: str = "order.created",
    ceiling: int = 5,
) -> None:
    """Rows with the bodies {"n": …}, in one transaction and in this order."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(INSERT, [(topic, key, number, ceiling) for number in numbers])


def insert_many(connection: psycopg.Connection, rows: int, keys: int = 0) -> None:
    """That many rows at once; with `keys`, spread over so many of them."""
    connection.execute(MANY, {"rows": rows, "keys": keys})


def states(connection: psycopg.Connection) -> Counter[str]:
    return Counter(dict(connection.execute("SELECT state, count(*) FROM outbox GROUP BY state").fetchall()))


def all_sent(connection: psycopg.Connection) -> bool:
    return set(states(connection)) == {"sent"}
