"""The section database: the URL and its type, who connects, names of tables and columns (pages 16 and 24)."""

from typing import Any

import pytest

from queuebox_api.config.database import BUNDLED_NAMES
from queuebox_api.names import dotted
from services.configs import DATABASE, config, tree, wrong

WITHOUT_USER = {"url": "postgresql://me:letmein@db/x"}


def found(**keys: object) -> dict[str, str]:
    return wrong({"database": DATABASE | keys})


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("postgresql", "jdbc:postgresql://db:5432/x"),
        ("postgresql", "postgresql://db/x"),
        ("postgresql", "postgres://db/x"),
        ("postgresql", "jdbc:postgresql://a:1,b:2/x?targetServerType=primary"),
        ("sqlserver", "jdbc:sqlserver://db:1433;databaseName=x"),
    ],
)
def test_a_url_of_its_type_is_taken(kind: str, url: str) -> None:
    assert found(type=kind, url=url) == {}


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("postgresql", "jdbc:sqlserver://db"),
        ("sqlserver", "jdbc:postgresql://db/x"),
        ("sqlserver", "sqlserver://db"),
        ("postgresql", "jdbc:mysql://db/x"),
        ("postgresql", "db:5432/x"),
        ("postgresql", ""),
        ("postgresql", "file:/run/secrets/url"),
    ],
)
def test_a_url_of_another_type_is_refused(kind: str, url: str) -> None:
    (text,) = found(type=kind, url=url).values()
    assert text.endswith(f"because database.type is {kind}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:letmein@db/x",
        "jdbc:postgresql://db/x?user=me&password=letmein",
        "postgres://db/x?password=p&user=me",
    ],
)
def test_a_url_that_says_who_connects_is_enough(url: str) -> None:
    assert wrong({"database": {"url": url}}) == {}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:let@mein@db/x",
        "postgresql://me:let?mein@db/x",
        "postgresql://me:let/me@in@db/x",
        "jdbc:postgresql://db/x&user=me&password=letmein",
        "jdbc:postgresql://db/x;user=me",
    ],
)
def test_a_url_that_two_readers_would_read_differently_is_refused(url: str) -> None:
    assert found(url=url)["database.url"].startswith("is ambiguous: ")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:let%40me%2Fin%3F@db/x",
        "jdbc:postgresql://db/x?user=me@tenant&password=p@q",
        "postgresql://m:a#b;c@db/x",
    ],
)
def test_a_url_that_is_read_in_one_way_is_taken(url: str) -> None:
    assert wrong({"database": {"url": url}}) == {}


@pytest.mark.parametrize(
    ("url", "missing"),
    [
        ("postgresql://db/x", ["database.username", "database.password"]),
        ("postgresql://me@db/x", ["database.password"]),
        ("jdbc:postgresql://db/x?user=me", ["database.password"]),
        ("jdbc:postgresql://db/x?username=me&password=y", ["database.username"]),
        ("jdbc:postgresql://db/x?sslpassword=y", ["database.username", "database.password"]),
    ],
)
def test_who_connects_is_required(url: str, missing: list[str]) -> None:
    assert list(wrong({"database": {"url": url}})) == missing


def test_all_three_minimum_keys_are_missed_at_once() -> None:
    assert list(wrong({"database": {}})) == ["database.url", "database.username", "database.password"]


NAMES = [dotted(("database", *key)) for key in BUNDLED_NAMES]


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", 'a"b', "a;drop", "ä", "a.b", "a" * 64])
@pytest.mark.parametrize("path", ["database.outboxTableName", "database.columnMapping.inbox.headers"])
def test_a_name_is_a_sql_identifier(path: str, name: str) -> None:
    assert list(wrong(tree(path, name) | {"outbox": {}})) == [path]


@pytest.mark.parametrize("name", ["order", "_a1", "QB_Outbox", "a" * 63])
def test_any_identifier_is_taken_without_the_migrations(name: str) -> None:
    assert found(migrate=False, outboxTableName=name) == {}


def test_every_table_and_column_can_be_renamed() -> None:
    assert len(NAMES) == 2 + 17 + 18


@pytest.mark.parametrize("path", NAMES)
def test_a_custom_name_needs_migrate_false(path: str) -> None:
    renamed = wrong(tree(path, "qb_name"))
    assert list(renamed) == [path]
    assert "database.migrate to false" in renamed[path]


def test_each_renamed_setting_is_named() -> None:
    keys: dict[str, Any] = {"outboxTableName": "a", "columnMapping": {"outbox": {"payload": "b"}, "inbox": {"id": "c"}}}
    assert set(found(**keys)) == {
        "database.outboxTableName",
        "database.columnMapping.outbox.payload",
        "database.columnMapping.inbox.id",
    }
    assert found(migrate=False, **keys) == {}


def test_a_default_name_that_is_written_out_is_no_custom_name() -> None:
    assert found(outboxTableName="outbox", columnMapping={"outbox": {"aggregateType": "aggregate_type"}}) == {}


def test_the_two_tables_differ() -> None:
    assert list(found(migrate=False, inboxTableName="outbox")) == ["database.inboxTableName"]


def test_two_keys_do_not_share_a_column() -> None:
    mapping = {"columnMapping": {"outbox": {"payload": "headers"}}}
    assert found(migrate=False, **mapping) == {"database.columnMapping.outbox": "two keys name the same column"}


def test_attributes_are_snake_case() -> None:
    assert config().database.column_mapping.inbox.lease_expires_at == "lease_expires_at"
