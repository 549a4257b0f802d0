"""How an entry gets its kind (page 24, with the checks that page 24 lacks)."""

from typing import Any

import pytest

from queuebox_api.config import Block, Secret
from services.configs import config, tree, wrong

SELECTED = [
    ("destinations", {"baseUrl": "http://x"}, "http"),
    ("destinations", {"url": "amqp://x", "exchange": "x"}, "rabbitmq"),
    ("destinations", {"bootstrapServers": "x", "topic": "x"}, "kafka"),
    ("destinations", {"servers": "nats://x", "subject": "x"}, "nats"),
    ("sources", {"path": "/x", "idempotencyKeyPath": "$.id", "eventTypePath": "$.t"}, "http"),
    ("sources", {"queueName": "x", "connectionUrl": "amqp://x"}, "rabbitmq"),
    ("sources", {"bootstrapServers": "x", "topics": ["x"], "groupId": "x"}, "kafka"),
    ("sources", {"servers": "nats://x", "stream": "x", "durable": "x"}, "nats"),
]
AUTH_SELECTED = [
    ("destination", {"clientId": "x", "clientSecret": "x", "tokenUrl": "http://x"}, "oauth2"),
    ("destination", {"username": "x", "password": "x"}, "basic"),
    ("destination", {"headerValue": "x"}, "header"),
    ("admin", {"token": "x"}, "bearer"),
    ("admin", {"key": "x"}, "api-key"),
    ("admin", {"secret": "x"}, "hmac"),
]


@pytest.mark.parametrize(("section", "entry", "kind"), SELECTED)
def test_the_required_keys_select_the_kind(section: str, entry: dict[str, Any], kind: str) -> None:
    assert getattr(config(**{section: {"x": entry}}), section)["x"].type == kind


@pytest.mark.parametrize(("section", "entry", "kind"), SELECTED)
def test_type_agrees_with_the_keys(section: str, entry: dict[str, Any], kind: str) -> None:
    assert getattr(config(**{section: {"x": {"type": kind, **entry}}}), section)["x"].type == kind


@pytest.mark.parametrize(("where", "auth", "kind"), AUTH_SELECTED)
def test_the_required_keys_select_the_kind_of_an_auth_block(where: str, auth: dict[str, Any], kind: str) -> None:
    destinations = {"x": {"baseUrl": "http://x", "auth": auth}} if where == "destination" else {}
    whole = config(destinations=destinations, admin={"auth": auth} if where == "admin" else {})
    chosen = whole.destinations["x"].auth if where == "destination" else whole.admin.auth  # type: ignore[union-attr]  # http
    assert chosen is not None
    assert chosen.type == kind


def test_an_entry_of_python_objects_is_taken_as_it_is() -> None:
    destination = config(destinations={"x": {"baseUrl": "http://x"}}).destinations["x"]
    assert config(destinations={"y": destination}).destinations["y"] is destination


def test_a_key_of_another_kind_is_named() -> None:
    entry = {"type": "http", "baseUrl": "http://x", "exchange": "x"}
    assert wrong(tree("destinations.x", entry)) == {
        "destinations.x.exchange": "is a key of type rabbitmq, and this destination is of type http"
    }


def test_type_wins_over_the_keys_and_the_keys_are_named() -> None:
    found = wrong(tree("destinations.x", {"type": "rabbitmq", "baseUrl": "http://x"}))
    assert found == {
        "destinations.x.url": "is required",
        "destinations.x.exchange": "is required",
        "destinations.x.baseUrl": "is a key of type http, and this destination is of type rabbitmq",
    }


def test_a_begun_kind_is_told_what_it_lacks() -> None:
    assert wrong(tree("destinations.x", {"exchange": "x"})) == {"destinations.x.url": "is required"}


def test_a_source_of_which_the_keys_tell_nothing_is_http() -> None:
    assert wrong(tree("sources.x", {"consumption": "pull"})) == {
        "sources.x.path": "is required",
        "sources.x.idempotencyKeyPath": "is required",
    }


@pytest.mark.parametrize("entry", [{}, {"path": "/x"}, {"type": None}])
def test_a_destination_of_which_the_keys_tell_nothing_asks_for_type(entry: dict[str, Any]) -> None:
    text = wrong(tree("destinations.x", entry))["destinations.x.type"]
    assert "http, rabbitmq, kafka or nats" in text


@pytest.mark.parametrize(
    "entry",
    [{"baseUrl": "http://x", "url": "amqp://x", "exchange": "x"}, {"baseUrl": "http://x", "subject": "x", "url": "x"}],
)
def test_a_complete_kind_wins_and_two_are_ambiguous(entry: dict[str, Any]) -> None:
    found = wrong(tree("destinations.x", entry))
    if "exchange" in entry:
        assert found == {
            "destinations.x.type": "set type to http, rabbitmq, kafka or nats: its keys fit http and rabbitmq"
        }
    else:
        assert set(found) == {"destinations.x.subject", "destinations.x.url"}


@pytest.mark.parametrize("kind", ["", 3, True, ["http"], "amqp"])
def test_an_unknown_type_is_told_the_known_ones(kind: object) -> None:
    text = wrong(tree("destinations.x", {"type": kind, "baseUrl": "http://x"}))["destinations.x.type"]
    assert text == "must be http, rabbitmq, kafka or nats"


@pytest.mark.parametrize(("kind", "meant"), [("HTTP", "http"), ("htttp", "http"), ("rabbit-mq", "rabbitmq")])
def test_a_misspelt_type_is_told_the_one_that_is_meant(kind: str, meant: str) -> None:
    text = wrong(tree("destinations.x", {"type": kind, "baseUrl": "http://x"}))["destinations.x.type"]
    assert text == f"must be http, rabbitmq, kafka or nats; did you mean {meant}?"


def test_misspelt_keys_are_told_where_they_hide_the_kind() -> None:
    found = wrong(tree("destinations.x", {"baseUr": "http://x", "timoutMs": 3, "headers": {}}))
    assert found == {
        "destinations.x.type": "set type to http, rabbitmq, kafka or nats: its keys fit no kind",
        "destinations.x.baseUr": "is not a known key; did you mean baseUrl?",
        "destinations.x.timoutMs": "is not a known key; did you mean timeoutMs?",
    }


def test_misspelt_keys_are_told_beside_a_misspelt_type() -> None:
    auth = {"type": "basc", "username": "x", "pasword": "x"}
    assert wrong(tree("destinations.x", {"baseUrl": "http://x", "auth": auth})) == {
        "destinations.x.auth.type": "must be oauth2, basic or header; did you mean basic?",
        "destinations.x.auth.pasword": "is not a known key; did you mean password?",
    }


@pytest.mark.parametrize("entry", ["x", 1, [], None])
def test_an_entry_that_is_no_block_is_told_so(entry: object) -> None:
    assert wrong(tree("destinations.x", entry)) == {"destinations.x": "must be a block of keys"}


def test_a_basic_password_may_be_empty() -> None:
    auth = {"username": "x", "password": ""}
    destination = config(destinations={"x": {"baseUrl": "http://x", "auth": auth}}).destinations["x"]
    assert isinstance(destination, Block)
    assert repr(destination.auth.password) == repr(Secret(""))  # type: ignore[union-attr]  # basic
