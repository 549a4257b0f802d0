"""What no loop can do yet is refused by name, and everything else is not."""

from typing import Any

import pytest

from queuebox_api.config import Config
from queuebox_api.config.examine import examine
from queuebox_api.names import dotted
from queuebox_api.unsupported import NOT_YET, unsupported
from services.configs import DATABASE, config, tree

TRANSFORM = {"expression": "$"}
HTTP = {"baseUrl": "http://x"}
ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("RabbitMQ destinations", {"destinations": {"x": {"url": "amqp://x", "exchange": "x"}}}, "destinations.x.type"),
    ("Kafka destinations", {"destinations": {"x": {"bootstrapServers": "x", "topic": "x"}}}, "destinations.x.type"),
    ("NATS destinations", {"destinations": {"x": {"servers": "x", "subject": "x"}}}, "destinations.x.type"),
    ("sources", {"sources": {"x": {"path": "/x", "idempotencyKeyPath": "$.id", "topic": "x"}}}, "sources.x"),
    ("sources", {"sources": {"x": {"queueName": "x", "connectionUrl": "amqp://x"}}}, "sources.x"),
    ("transforms", {"destinations": {"x": HTTP | {"transform": TRANSFORM}}}, "destinations.x.transform"),
    (
        "transforms",
        {"destinations": {"x": HTTP}, "routes": [{"topicPattern": "a", "destination": "x", "transform": TRANSFORM}]},
        "routes[0].transform",
    ),
    ("change data capture", {"outbox": {"capture": {"mode": "postgres-logical"}}}, "outbox.capture.mode"),
    ("SQL Server", {"database": DATABASE | {"type": "sqlserver", "url": "jdbc:sqlserver://x"}}, "database.type"),
    ("the admin routes", {"admin": {"enabled": True, "insecure": True}}, "admin.enabled"),
    ("retention", {"retention": {"enabled": True}}, "retention.enabled"),
]


@pytest.mark.parametrize(("what", "sections", "path"), ASKED)
def test_what_cannot_be_done_yet_is_refused_by_name(what: str, sections: dict[str, Any], path: str) -> None:
    (finding,) = unsupported(config(**sections))
    assert (dotted(finding.path), finding.text) == (path, f"asks for {what}, which this version cannot do yet")


def test_every_gap_is_tried_here() -> None:
    assert {gap.what for gap in NOT_YET} == {what for what, _, _ in ASKED}


def test_an_enabled_capture_is_refused_at_both_keys() -> None:
    capture = {"mode": "postgres-logical", "enabled": True, "stateDirectory": "/data"}
    paths = [dotted(finding.path) for finding in unsupported(config(outbox={"capture": capture}))]
    assert paths == ["outbox.capture.mode", "outbox.capture.enabled"]


def test_the_transform_of_a_source_is_refused() -> None:
    source = {"path": "/x", "idempotencyKeyPath": "$.id", "topic": "x", "transform": TRANSFORM}
    paths = [dotted(finding.path) for finding in unsupported(config(sources={"x": source}))]
    assert paths == ["sources.x", "sources.x.transform"]


def test_the_defaults_and_http_destinations_are_supported() -> None:
    whole = config(destinations={"x": HTTP}, routes=[{"topicPattern": "**", "destination": "x"}])
    assert whole.inbox.relay.enabled
    assert unsupported(whole) == []


def test_what_can_be_read_of_a_configuration_with_errors_is_looked_at() -> None:
    broken = tree(
        server={"httpPort": 0},
        destinations={"a": {"bootstrapServers": "x", "topic": ""}, "b": 3},
        sources={"s": {}},
        routes=[{"topicPattern": "***", "destination": "a", "transform": TRANSFORM}, 3],
    )
    paths = {dotted(finding.path) for finding in unsupported(examine(broken)[0])}
    assert paths == {"destinations.a.type", "sources.s", "routes[0].transform"}


def test_nothing_can_be_read_of_nothing() -> None:
    part, findings = examine({"destinations": 3, "database": 4, "routes": 5, "sources": 6, "outbox": 7, "admin": 8})
    assert isinstance(part, Config)
    assert len(findings) == 6
    assert unsupported(part) == []
