"""Mapped names in statements: quoted, and nothing else in a statement changes (spec pages 16 and 24)."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.store.postgres.names import InboxNames, OutboxNames, quoted, render
from services.schema import database_config

URL = "postgresql://localhost/db"
OUTBOX = {
    "id": "id",
    "topic": "topic",
    "key": "key",
    "aggregateType": "aggregate_type",
    "payload": "payload",
    "headers": "headers",
    "state": "state",
    "attempt": "attempt",
    "maxAttempts": "max_attempts",
    "scheduledAt": "scheduled_at",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "claimedAt": "claimed_at",
    "claimToken": "claim_token",
    "leaseExpiresAt": "lease_expires_at",
    "lastError": "last_error",
    "sequence": "sequence",
}
INBOX = {
    "id": "id",
    "source": "source",
    "idempotencyKey": "idempotency_key",
    "aggregateId": "aggregate_id",
    "eventType": "event_type",
    "payload": "payload",
    "headers": "headers",
    "state": "state",
    "consumption": "consumption",
    "attempt": "attempt",
    "lastError": "last_error",
    "scheduledAt": "scheduled_at",
    "createdAt": "created_at",
    "processedAt": "processed_at",
    "claimedAt": "claimed_at",
    "claimToken": "claim_token",
    "leaseExpiresAt": "lease_expires_at",
    "correlationId": "correlation_id",
}


def outbox(**settings: object) -> OutboxNames:
    return OutboxNames.from_config(database_config(URL, migrate=False, **settings))


def inbox(**settings: object) -> InboxNames:
    return InboxNames.from_config(database_config(URL, migrate=False, **settings))


def test_the_default_names_are_those_of_the_page() -> None:
    assert asdict(outbox()) == {"outbox": '"outbox"'} | {name: f'"{name}"' for name in OUTBOX.values()}
    assert asdict(inbox()) == {"inbox": '"inbox"'} | {name: f'"{name}"' for name in INBOX.values()}


@pytest.mark.parametrize("key", OUTBOX)
def test_a_key_of_the_outbox_mapping_renames_its_column_alone(key: str) -> None:
    changed = asdict(outbox(columnMapping={"outbox": {key: "Other"}})).items() - asdict(outbox()).items()
    assert changed == {(OUTBOX[key], '"Other"')}


@pytest.mark.parametrize("key", INBOX)
def test_a_key_of_the_inbox_mapping_renames_its_column_alone(key: str) -> None:
    changed = asdict(inbox(columnMapping={"inbox": {key: "Other"}})).items() - asdict(inbox()).items()
    assert changed == {(INBOX[key], '"Other"')}


def test_the_tables_are_renamed() -> None:
    settings = {"outboxTableName": "order", "inboxTableName": "user"}
    assert (outbox(**settings).outbox, inbox(**settings).inbox) == ('"order"', '"user"')


def test_placeholders_are_replaced_and_other_braces_and_values_stay() -> None:
    text = "UPDATE {outbox} SET {headers} = '{}'::jsonb, {payload} = '{\"a\": 1}' WHERE {id} = ANY(%(ids)s)"
    assert render(text, outbox()) == (
        'UPDATE "outbox" SET "headers" = \'{}\'::jsonb, "payload" = \'{"a": 1}\' WHERE "id" = ANY(%(ids)s)'
    )


def test_an_unknown_placeholder_is_an_error() -> None:
    with pytest.raises(KeyError, match="colour"):
        render("SELECT {colour}", outbox())


@given(st.text())
def test_a_quoted_name_is_one_identifier_whatever_it_holds(name: str) -> None:
    inside = quoted(name)[1:-1]
    assert inside.replace('""', "").count('"') == 0
    assert inside.replace('""', '"') == name
