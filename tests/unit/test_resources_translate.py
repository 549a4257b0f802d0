"""From a resource to its entry of queuebox.yml, and back to the field."""

from typing import Any

import pytest
import yaml

from queuebox_api.names import Path
from queuebox_api.resources import kind, resource_path, secret_refs, to_config
from queuebox_api.schema import schema_of
from services.resources import sample, samples


def mounted(secret: str, key: str) -> str:
    return f"file:/run/secrets/queuebox/{secret}/{key}"


def entry(kind: str, name: str) -> dict[str, Any]:
    return to_config(kind, sample(kind, name)["spec"], mounted)


def test_what_a_kind_has_and_what_every_kind_has_make_one_entry() -> None:
    assert entry("Destination", "http") == yaml.safe_load("""
        type: http
        baseUrl: https://orders.example.com/api
        path: /events?from=queuebox
        timeoutMs: 5000
        auth:
          type: oauth2
          clientId: queuebox
          clientSecret: file:/run/secrets/queuebox/orders/client-secret
          tokenUrl: https://auth.example.com/token?tenant=1
          scope: orders
          extraParams: {audience: orders}
        headers: {X-Team: orders}
        transform: {expression: "${ 'a': $ }", timeoutMs: 50, maxDepth: 20, onError: Dead}
    """)


def test_a_url_in_a_secret_is_a_file() -> None:
    assert entry("Destination", "nats-with-token") == {
        "type": "nats",
        "servers": "file:/run/secrets/queuebox/nats/urls",
        "token": "file:/run/secrets/queuebox/nats/token",
        "subject": "orders",
    }


def test_a_kind_whose_name_is_no_key_keeps_its_name() -> None:
    auth = entry("Source", "api-key")["auth"]
    assert auth == {"type": "api-key", "key": "file:/run/secrets/queuebox/keyed/key", "headerName": "X-Key"}


def test_a_route_names_its_destination() -> None:
    spec = {"queueBoxRef": {"name": "shop"}, "topicPattern": "a.*", "destinationRef": {"name": "orders"}, "priority": 7}
    assert to_config("Route", spec, mounted) == {"topicPattern": "a.*", "destination": "orders"}


def test_a_box_gives_its_sections_and_nothing_of_its_agents() -> None:
    assert set(entry("QueueBox", "whole")) == {"server", "database", "outbox", "inbox", "http", "admin", "retention"}


def with_defaults(node: dict[str, Any], value: Any) -> Any:
    """`value` as the API server fills it in."""
    if isinstance(value, dict):
        properties = node.get("properties", {})
        given = {key: with_defaults(properties.get(key, {}), child) for key, child in value.items()}
        return {key: child["default"] for key, child in properties.items() if "default" in child} | given
    return [with_defaults(node.get("items", {}), item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("one", samples(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_a_default_of_the_schema_changes_nothing(one: dict[str, Any]) -> None:
    spec = one["spec"]
    filled = with_defaults(schema_of(kind(one["kind"]).spec, "spec"), spec)
    assert to_config(one["kind"], filled, mounted) == to_config(one["kind"], spec, mounted)


def test_every_secret_that_is_read_is_told_with_its_place() -> None:
    assert secret_refs("Source", sample("Source", "http")["spec"]) == [
        (("http", "auth", "hmac", "secretSecretRef"), "stripe", "secret")
    ]


@pytest.mark.parametrize("one", samples(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_what_is_mounted_is_what_is_told(one: dict[str, Any]) -> None:
    read: set[tuple[str, str]] = set()

    def mount(secret: str, key: str) -> str:
        read.add((secret, key))
        return "file:x"

    to_config(one["kind"], one["spec"], mount)
    assert read == {(secret, key) for _, secret, key in secret_refs(one["kind"], one["spec"])}


@pytest.mark.parametrize(
    ("kind", "name", "path", "place"),
    [
        ("Destination", "http", ("baseUrl",), ("http", "baseUrl")),
        ("Destination", "http", ("headers", "X-Team"), ("headers", "X-Team")),
        ("Destination", "http", ("type",), ("type",)),
        ("Destination", "http", ("auth", "clientSecret"), ("http", "auth", "oauth2", "clientSecretSecretRef")),
        ("Destination", "http", ("auth", "type"), ("http", "auth")),
        ("Destination", "rabbitmq", ("url",), ("rabbitmq", "url")),
        ("Destination", "rabbitmq-with-password", ("url",), ("rabbitmq", "urlSecretRef")),
        ("Source", "http", ("filter", "require", 0, "equals"), ("filter", "require", 0, "equals")),
        ("Source", "api-key", ("auth", "key"), ("http", "auth", "apiKey", "keySecretRef")),
        ("Route", "whole", ("destination",), ("destinationRef", "name")),
        ("Route", "whole", ("transform", "expression"), ("transform", "expression")),
        ("QueueBox", "whole", ("database", "password"), ("database", "passwordSecretRef")),
        ("QueueBox", "whole", ("admin", "auth", "token"), ("admin", "auth", "bearer", "tokenSecretRef")),
        ("QueueBox", "operator-secret", ("database", "url"), ("database", "secretRef")),
        ("QueueBox", "operator-secret", ("database", "username"), ("database", "secretRef")),
        ("QueueBox", "url-in-secret", ("database", "url"), ("database", "urlSecretRef")),
        ("QueueBox", "whole", (), ()),
    ],
)
def test_a_place_in_the_entry_is_a_place_in_the_resource(kind: str, name: str, path: Path, place: Path) -> None:
    assert resource_path(kind, path, sample(kind, name)["spec"]) == place
