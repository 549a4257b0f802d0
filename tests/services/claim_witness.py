"""Witnesses of what several processes did with one outbox table, none of which the claim ever reads: a log of what was
delivered when, and a trigger that knows which token has a key.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg.rows import class_row

TABLES = """
CREATE TABLE log (n BIGSERIAL PRIMARY KEY, kind TEXT, id UUID, key TEXT, token UUID, fate TEXT);
CREATE TABLE outcome (id UUID, token UUID, fate TEXT);
CREATE TABLE held (key TEXT PRIMARY KEY, token UUID, rows INT);
CREATE TABLE violation (key TEXT, token UUID);
CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN  -- whatever a claim could see: the primary key of held knows whether another token has the key
  IF NEW.state = 'processing' AND OLD.state <> 'processing' THEN
    INSERT INTO held VALUES (NEW.key, NEW.claim_token, 1)
      ON CONFLICT (key) DO UPDATE SET rows = held.rows + 1 WHERE held.token = EXCLUDED.token;
    IF NOT FOUND THEN INSERT INTO violation VALUES (NEW.key, NEW.claim_token); END IF;
  ELSIF OLD.state = 'processing' AND NEW.state <> 'processing' THEN
    UPDATE held SET rows = rows - 1 WHERE key = OLD.key AND token = OLD.claim_token;
    DELETE FROM held WHERE key = OLD.key AND rows = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER UPDATE OF state ON outbox FOR EACH ROW WHEN (NEW.key <> '') EXECUTE FUNCTION witness();
"""
FINAL = ("sent", "dead")


@dataclass(frozen=True, slots=True)
class Entry:
    """The start or the end of one delivery, in the order of `n`."""

    n: int
    kind: str
    id: UUID
    key: str | None
    token: UUID
    fate: str


@dataclass(frozen=True, slots=True)
class Told:
    """What the store told about one write: its fate, or `lost`."""

    id: UUID
    token: UUID
    fate: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row at the end; rows come in order of their sequence."""

    id: UUID
    key: str | None
    state: str


def install(connection: psycopg.Connection) -> None:
    """Add the witnesses to a database with the bundled schema."""
    connection.execute(TABLES)


def faults(connection: psycopg.Connection, replayed: Mapping[UUID, int]) -> dict[str, int]:
    """What went against the rules, and how often. `replayed`: how often each row was brought back after its end."""
    with connection.cursor(row_factory=class_row(Row)) as rows:
        table = rows.execute("SELECT id, key, state FROM outbox ORDER BY sequence").fetchall()
    with connection.cursor(row_factory=class_row(Entry)) as entries:
        log = entries.execute("SELECT * FROM log ORDER BY n").fetchall()
    with connection.cursor(row_factory=class_row(Told)) as outcomes:
        told = outcomes.execute("SELECT * FROM outcome").fetchall()
    violations = connection.execute("SELECT FROM violation").fetchall()
    found = {
        "not finished": sum(row.state not in FINAL for row in table),
        "finished more or less than once": _finished_wrong(table, told, replayed),
        "two deliveries of a key at once": _overlapping(log, told),
        "out of order": _out_of_order(table, log, told),
        "two tokens on one key": len(violations),
    }
    return {fault: count for fault, count in found.items() if count}


def _finished_wrong(table: Sequence[Row], told: Sequence[Told], replayed: Mapping[UUID, int]) -> int:
    ends = Counter(one.id for one in told if one.fate in FINAL)
    return sum(ends[row.id] != 1 + replayed.get(row.id, 0) for row in table)


def _overlapping(log: Sequence[Entry], told: Sequence[Told]) -> int:
    """A delivery whose claim was lost does not count: it is the duplicate that a counter tells of."""
    lost = {(one.id, one.token) for one in told if one.fate == "lost"}
    running: dict[str, set[tuple[UUID, UUID]]] = defaultdict(set)
    found = 0
    for entry in log:
        if not entry.key or entry.fate == "stall":
            continue
        if entry.kind == "start":
            found += bool(running[entry.key] - lost)
            running[entry.key].add((entry.id, entry.token))
        else:
            running[entry.key].discard((entry.id, entry.token))
    return found


def _out_of_order(table: Sequence[Row], log: Sequence[Entry], told: Sequence[Told]) -> int:
    """Deliveries that began before an earlier row of their key was finished; keys that commit late are left out."""
    winners = {(one.id, one.token) for one in told if one.fate in FINAL}
    ended = {entry.id: entry.n for entry in log if entry.kind == "end" and (entry.id, entry.token) in winners}
    before: dict[UUID, int] = {}
    last: dict[str, int] = defaultdict(int)
    for row in table:
        if row.key and not row.key.startswith("late"):
            before[row.id], last[row.key] = last[row.key], max(last[row.key], ended.get(row.id, 0))
    return sum(entry.kind == "start" and entry.n < before.get(entry.id, 0) for entry in log)
