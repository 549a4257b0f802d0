"""What a schema of a database is made of, in the words of the reference pages."""

import re
from dataclasses import dataclass

import psycopg

COLUMNS = """SELECT attname::text, upper(format_type(atttypid, atttypmod)), NOT attnotnull, pg_get_expr(adbin, adrelid)
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""
INDEXES = """SELECT relname::text, indisunique, pg_get_expr(indpred, indrelid),
  ARRAY(SELECT pg_get_indexdef(indexrelid, place, true) FROM generate_series(1, indnkeyatts) place)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = to_regclass(%s)"""
CONSTRAINTS = """SELECT conname::text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = to_regclass(%s) AND contype <> 'n'"""


@dataclass(frozen=True, slots=True)
class Column:
    type: str
    null: bool
    default: str | None


@dataclass(frozen=True, slots=True)
class Index:
    columns: tuple[str, ...]
    unique: bool
    filter: str | None


@dataclass(frozen=True, slots=True)
class Table:
    columns: dict[str, Column]
    indexes: dict[str, Index]
    constraints: dict[str, str]


def table(url: str, name: str) -> Table:
    """The table as the catalog has it; empty when there is none."""
    with psycopg.connect(url) as connection:
        columns = {
            column: Column(kind, null, default and without_casts(default))
            for column, kind, null, default in connection.execute(COLUMNS, [name])
        }
        indexes = {
            index: Index(tuple(keys), unique, predicate and without_casts(predicate).replace("(", "").replace(")", ""))
            for index, unique, predicate, keys in connection.execute(INDEXES, [name])
        }
        constraints = {str(row[0]): str(row[1]) for row in connection.execute(CONSTRAINTS, [name])}
    return Table(columns, indexes, constraints)


def without_casts(expression: str) -> str:
    return re.sub(r"::(character varying|text|jsonb|regclass)(\[\])?", "", expression)
