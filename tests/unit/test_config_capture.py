"""Capture and retention: what is required only when they are enabled (edge-cases 2.2)."""

import pytest

from services.configs import DATABASE, tree, wrong

ON = {"enabled": True, "mode": "postgres-logical", "stateDirectory": "/data"}


def capture(**keys: object) -> dict[str, str]:
    return wrong(tree(outbox={"capture": keys}))


def test_an_enabled_capture_is_complete() -> None:
    assert capture(**ON) == {}


def test_an_enabled_capture_needs_a_mode_and_a_directory() -> None:
    assert set(capture(enabled=True)) == {"outbox.capture.mode", "outbox.capture.stateDirectory"}
    assert list(capture(**ON | {"stateDirectory": " "})) == ["outbox.capture.stateDirectory"]


def test_a_mode_fits_the_database() -> None:
    assert list(capture(mode="sqlserver-cdc")) == ["outbox.capture.mode"]
    sqlserver = DATABASE | {"type": "sqlserver", "url": "jdbc:sqlserver://db"}
    found = wrong({"database": sqlserver, "outbox": {"capture": {"mode": "postgres-logical"}}})
    assert found == {"outbox.capture.mode": "postgres-logical needs database.type postgresql"}


@pytest.mark.parametrize("key", ["identity", "slot", "publication"])
@pytest.mark.parametrize("name", ["", "A", "_a", "1a", "a-b", "a" * 64])
def test_a_capture_name_is_lower_case(key: str, name: str) -> None:
    assert list(capture(**{key: name})) == [f"outbox.capture.{key}"]


@pytest.mark.parametrize("key", ["identity", "slot", "publication"])
def test_a_capture_name_has_63_letters(key: str) -> None:
    assert capture(**{key: "a_1" * 21}) == {}


@pytest.mark.parametrize("name", ["Public", "_a1", "dbo"])
def test_a_schema_may_have_capitals_and_start_with_an_underscore(name: str) -> None:
    assert capture(schema=name) == {}


@pytest.mark.parametrize("name", ["1a", "a-b", "", "a" * 64])
def test_a_schema_is_a_name(name: str) -> None:
    assert list(capture(schema=name)) == ["outbox.capture.schema"]


def test_several_hosts_need_a_hostname_for_capture() -> None:
    database = DATABASE | {"url": "jdbc:postgresql://a:5432,b:5432/x"}
    several = {"database": database, "outbox": {"capture": ON}}
    assert list(wrong(several)) == ["outbox.capture.connection.hostname"]
    assert wrong({"database": database, "outbox": {"capture": ON | {"connection": {"hostname": "a"}}}}) == {}
    assert wrong({"database": database}) == {}


@pytest.mark.parametrize(
    ("table", "policy", "missing"),
    [("outbox", "AGE", "maxAge"), ("outbox", "COUNT", "maxCount"), ("inbox", "AGE", "maxAge")],
)
def test_a_policy_needs_its_bound_when_retention_is_enabled(table: str, policy: str, missing: str) -> None:
    keys = {table: {"policy": policy}}
    assert wrong(tree(retention={"enabled": True, **keys})) == {
        f"retention.{table}.{missing}": f"is required by policy {policy}"
    }
    assert wrong(tree(retention=keys)) == {}


def test_the_inbox_has_no_count_policy() -> None:
    assert list(wrong(tree(retention={"inbox": {"policy": "COUNT", "maxCount": 5}}))) == ["retention.inbox.policy"]


@pytest.mark.parametrize("key", ["maxAge", "cleanupInterval"])
@pytest.mark.parametrize("text", ["7d", "90m", "1h", "5s"])
def test_a_duration_is_a_number_and_a_suffix(key: str, text: str) -> None:
    assert wrong(tree(retention={"inbox": {key: text}})) == {}


@pytest.mark.parametrize("key", ["maxAge", "cleanupInterval"])
@pytest.mark.parametrize("text", ["0s", "7", "d", "7 d", "1.5h", "7D", "-1d", "", 7])
def test_no_other_text_is_a_duration(key: str, text: object) -> None:
    assert list(wrong(tree(retention={"inbox": {key: text}}))) == [f"retention.inbox.{key}"]
