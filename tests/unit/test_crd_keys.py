"""Every key of queuebox.yml has its field in a custom resource."""

from collections.abc import Iterator
from typing import Any

import pytest

from queuebox_api.config.kinds import kind_of
from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section
from queuebox_api.names import Path
from queuebox_api.resources import resource_path, to_config
from services.resources import samples, value_at

KIND_OF_SECTION = {"sources": "Source", "destinations": "Destination", "routes": "Route"}
Key = tuple[str, str, Path]
"""The kind of a resource, the kind of its entry, and a key below the entry: `*` is any name, 0 any index."""


def keys(node: Node, path: Path = ()) -> Iterator[Path]:
    match node:
        case Leaf():
            yield path
        case Section():
            for model in node.models:
                for name, child in Section((model,)).keys.items():
                    yield from keys(child, (*path, name))
        case Entries(of):
            yield from keys(of, (*path, "*"))
        case Items(of):
            yield from keys(of, (*path, 0))


def keys_of_the_configuration() -> Iterator[Key]:
    for section, node in ROOT.keys.items():
        entry = node.of if isinstance(node, Entries | Items) else node
        if section not in KIND_OF_SECTION or not isinstance(entry, Section):
            yield from (("QueueBox", "", path) for path in keys(node, (section,)))
            continue
        for model in entry.models:
            own = kind_of(model) if entry.kinds else ""
            yield from ((KIND_OF_SECTION[section], own, path) for path in keys(Section((model,))))


def values(content: Any, node: Node, path: Path = ()) -> Iterator[tuple[Path, Path, Any]]:
    """Each value of an entry: where it is, which key that is, and the value."""
    yield from _below(content, node, path, path)


def _below(content: Any, node: Node, path: Path, key: Path) -> Iterator[tuple[Path, Path, Any]]:
    match node, content:
        case Section(), dict():
            for name, child in content.items():
                yield from _below(child, node.keys[name], (*path, name), (*key, name))
        case Entries(of), dict():
            for name, child in content.items():
                yield from _below(child, of, (*path, name), (*key, "*"))
        case Items(of), list():
            for index, child in enumerate(content):
                yield from _below(child, of, (*path, index), (*key, 0))
        case _:
            yield path, key, content


def mounted(secret: str, key: str) -> str:
    return f"file:{secret}/{key}"


def node_of(kind: str) -> Node:
    section = next((section for section, name in KIND_OF_SECTION.items() if name == kind), None)
    node = ROOT.keys[section] if section else ROOT
    return node.of if isinstance(node, Entries | Items) else node


def set_keys() -> Iterator[Key]:
    for one in samples():
        kind, spec = one["kind"], one["spec"]
        for _, key, _ in values(to_config(kind, spec, mounted), node_of(kind)):
            for own in (
                [spec["type"]]
                if key[0] in spec.get(spec.get("type"), {})
                else ["http", "rabbitmq", "kafka", "nats", ""]
            ):
                yield kind, own, key


def test_the_samples_set_every_key_of_the_configuration_through_a_field() -> None:
    assert set(keys_of_the_configuration()) - set(set_keys()) == set()


@pytest.mark.parametrize("one", samples(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_a_key_is_told_at_the_field_that_sets_it(one: dict[str, Any]) -> None:
    kind, spec = one["kind"], one["spec"]
    for path, _, value in values(to_config(kind, spec, mounted), node_of(kind)):
        at = value_at(spec, resource_path(kind, path, spec))
        secret = mounted(at["name"], at.get("key", "password")) if isinstance(at, dict) and "name" in at else None
        assert value in (at, secret) or path[-1] in {"type", "url", "username"}
