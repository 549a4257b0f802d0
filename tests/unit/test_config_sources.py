"""Sources, their auth, their filter and their JSONPaths (page 24)."""

from typing import Any

import pytest

from queuebox_api.config import HmacAuth
from services.configs import config, tree, wrong

SOURCE = {"path": "/x", "idempotencyKeyPath": "$.id", "eventTypePath": "$.type"}
QUEUE = {"queueName": "x", "connectionUrl": "amqp://x"}


def found(base: dict[str, Any] = SOURCE, /, **keys: object) -> dict[str, str]:
    return wrong(tree("sources.x", base | keys))


DEFINITE = ["$", "$.id", "$.a.b-c.d_e", "$['a b']", '$["a"].b', "$.a[0].b", "$.a[-1]", "$.ä"]
INDEFINITE = [
    "",
    "id",
    "$.",
    "$..id",
    "$.*",
    "$.a[*]",
    "$.a[?(@.b)]",
    "$.a[0:2]",
    "$.a[0,1]",
    "$['a','b']",
    "$.a.length()",
    "$.a b",
    "$[a]",
    "$.a[",
]


@pytest.mark.parametrize("key", ["idempotencyKeyPath", "aggregateIdPath", "eventTypePath"])
@pytest.mark.parametrize("path", DEFINITE)
def test_a_path_of_one_place_is_taken(key: str, path: str) -> None:
    assert found(**{key: path}) == {}


@pytest.mark.parametrize("key", ["idempotencyKeyPath", "aggregateIdPath", "eventTypePath"])
@pytest.mark.parametrize("path", INDEFINITE)
def test_a_path_of_several_places_stops_the_start(key: str, path: str) -> None:
    assert list(found(**{key: path})) == [f"sources.x.{key}"]


@pytest.mark.parametrize("topic", ["", " "])
def test_the_topic_of_a_push_source_is_not_blank(topic: str) -> None:
    assert found(topic=topic) == {"sources.x.topic": "must not be blank on a push source"}
    assert found(topic=topic, consumption="pull") == {}


@pytest.mark.parametrize("topic", ["{{ eventType }}", "{{eventType}}", "stripe.{{ eventType }}"])
def test_a_topic_that_reads_the_event_type_needs_one(topic: str) -> None:
    http = {"path": "/x", "idempotencyKeyPath": "$.id", "topic": topic}
    assert list(found(http)) == ["sources.x.eventTypePath"]
    assert list(found(QUEUE, topic=topic)) == ["sources.x.eventTypePath"]
    assert found(http, consumption="pull") == {}
    assert found(http, eventTypePath="$.t") == {}
    assert found(QUEUE, topic=topic, eventTypeFromHeader=True) == {}


def test_an_http_source_reads_the_event_type_by_default_and_a_queue_does_not() -> None:
    assert list(found({"path": "/x", "idempotencyKeyPath": "$.id"})) == ["sources.x.eventTypePath"]
    assert found(QUEUE) == {}


def test_a_rate_limit_is_above_zero() -> None:
    assert found(rateLimit={"requestsPerMinute": 0}) == {"sources.x.rateLimit.requestsPerMinute": "must be at least 1"}


@pytest.mark.parametrize(
    ("auth", "key"),
    [
        ({"type": "bearer", "token": " "}, "token"),
        ({"type": "api-key", "key": ""}, "key"),
        ({"type": "api-key", "key": "x", "headerName": " "}, "headerName"),
        ({"type": "hmac", "secret": ""}, "secret"),
        ({"type": "hmac", "secret": "x", "headerName": ""}, "headerName"),
        ({"type": "hmac", "secret": "x", "algorithm": "HmacMD5"}, "algorithm"),
        ({"type": "hmac", "secret": "x", "timestampHeader": "X-Time", "timestampTolerance": 0}, "timestampTolerance"),
        ({"type": "hmac", "secret": "x", "signaturePayloadFormat": "timestamp-dot-body"}, "timestampHeader"),
        ({"type": "hmac", "secret": "x", "signaturePayloadFormat": "other"}, "signaturePayloadFormat"),
    ],
)
def test_what_an_auth_block_must_hold(auth: dict[str, object], key: str) -> None:
    assert list(found(auth=auth)) == [f"sources.x.auth.{key}"]
    assert list(wrong(tree(admin={"auth": auth}))) == [f"admin.auth.{key}"]


def signs_timestamp(**keys: str) -> bool:
    auth = config(admin={"auth": {"secret": "x", **keys}}).admin.auth
    assert isinstance(auth, HmacAuth)
    return auth.signs_timestamp


def test_an_hmac_signs_the_timestamp_when_there_is_one() -> None:
    assert signs_timestamp(timestampHeader="X-Time")
    assert not signs_timestamp()


@pytest.mark.parametrize("spelling", ["timestamp-dot-body", "TIMESTAMP_DOT_BODY", "Timestamp-Dot-Body"])
def test_an_hmac_payload_format_has_any_spelling(spelling: str) -> None:
    assert signs_timestamp(timestampHeader="X-Time", signaturePayloadFormat=spelling)


@pytest.mark.parametrize("spelling", ["body", "BODY", "Body"])
def test_an_hmac_can_sign_the_body_alone(spelling: str) -> None:
    assert not signs_timestamp(timestampHeader="X-Time", signaturePayloadFormat=spelling)


@pytest.mark.parametrize("place", ["require", "exclude"])
@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ({"equals": "x"}, ".header"),
        ({"header": " ", "equals": "x"}, ".header"),
        ({"header": "x"}, ""),
        ({"header": "x", "equals": "x", "exists": True}, ""),
        ({"header": "x", "exists": False}, ".exists"),
        ({"header": "x", "in": []}, ".in"),
        ({"header": "x", "matches": " "}, ".matches"),
        ({"header": "x", "matches": "a.***"}, ".matches"),
    ],
)
def test_a_filter_rule_that_cannot_be_meant_stops_the_start(place: str, rule: dict[str, object], key: str) -> None:
    assert list(found(filter={place: [rule]})) == [f"sources.x.filter.{place}[0]{key}"]


@pytest.mark.parametrize(
    "test", [{"equals": ""}, {"in": ["a", "b"]}, {"matches": "a.*"}, {"exists": True}, {"exists": "true"}]
)
def test_a_filter_rule_with_one_test_is_taken(test: dict[str, object]) -> None:
    assert found(filter={"require": [{"header": "X-Region", **test}]}) == {}
