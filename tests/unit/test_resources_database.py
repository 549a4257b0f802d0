"""A database by the Secret that an operator for PostgreSQL made."""

from pathlib import Path
from typing import Any

import pytest

from queuebox_agent.settings.references import with_files_read
from queuebox_api.config import Finding
from queuebox_api.resources import check, secret_refs, to_config

CLOUDNATIVEPG = frozenset({"uri", "jdbc-uri", "host", "port", "dbname", "user", "username", "password", "pgpass"})
CRUNCHY = frozenset({"uri", "jdbc-uri", "host", "port", "dbname", "user", "password", "verifier"})
USER_AND_PASSWORD = frozenset({"username", "password"})
ZALANDO = "shop-user.shop-db.credentials.postgresql.acid.zalan.do"


def database(keys: frozenset[str] | None, **given: Any) -> dict[str, Any]:
    config = to_config("QueueBox", {"database": given}, lambda secret, key: f"file:{secret}/{key}", lambda name: keys)
    section: dict[str, Any] = config["database"]
    return section


@pytest.mark.parametrize(
    ("name", "keys"),
    [("shop-app", CLOUDNATIVEPG), ("shop-app", None), ("shop-pguser-app", CRUNCHY), ("shop-pguser-app", None)],
)
def test_a_secret_with_a_url_is_all_that_is_needed(name: str, keys: frozenset[str] | None) -> None:
    assert database(keys, secretRef={"name": name}) == {"url": f"file:{name}/uri"}


@pytest.mark.parametrize("keys", [USER_AND_PASSWORD, None])
def test_the_name_of_a_secret_tells_the_host_where_the_secret_does_not(keys: frozenset[str] | None) -> None:
    assert database(keys, secretRef={"name": ZALANDO}) == {
        "url": "postgresql://shop-db:5432/shop-user",
        "username": f"file:{ZALANDO}/username",
        "password": f"file:{ZALANDO}/password",
    }


def test_the_database_can_be_named() -> None:
    assert (
        database(None, secretRef={"name": ZALANDO, "database": "orders"})["url"] == "postgresql://shop-db:5432/orders"
    )


def test_the_namespace_in_the_name_of_a_secret_is_no_part_of_the_user() -> None:
    named = database(None, secretRef={"name": f"shops.{ZALANDO}"})
    assert named["url"] == "postgresql://shop-db:5432/shop-user"


@pytest.mark.parametrize(
    ("name", "keys", "user"),
    [
        (ZALANDO, None, "username"),
        ("shop-app", CLOUDNATIVEPG, "username"),
        ("shop-pguser-app", CRUNCHY, "user"),
        ("shop-pguser-app", None, "user"),
        ("basic-auth", USER_AND_PASSWORD, "username"),
    ],
)
def test_next_to_a_url_the_secret_gives_user_and_password(name: str, keys: frozenset[str] | None, user: str) -> None:
    assert database(keys, url="postgresql://db/shop", secretRef={"name": name}) == {
        "url": "postgresql://db/shop",
        "username": f"file:{name}/{user}",
        "password": f"file:{name}/password",
    }


def test_the_keys_that_are_read_are_told() -> None:
    assert secret_refs("QueueBox", {"database": {"secretRef": {"name": ZALANDO}}}) == [
        (("database", "secretRef"), ZALANDO, "username"),
        (("database", "secretRef"), ZALANDO, "password"),
    ]


def test_a_secret_that_does_not_tell_the_host_needs_a_url() -> None:
    spec = {"database": {"secretRef": {"name": "basic-auth"}}}
    assert check("QueueBox", spec) == []
    assert check("QueueBox", spec, lambda name: USER_AND_PASSWORD) == [
        Finding(("database", "url"), "is required: the Secret holds a user name and a password only")
    ]


def test_an_agent_reads_the_name_of_the_user_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "username").write_text("shop\n")
    findings: list[Finding] = []
    tree = with_files_read({"database": {"username": f"file:{tmp_path}/username"}}, findings)
    assert (tree, findings) == ({"database": {"username": "shop"}}, [])
