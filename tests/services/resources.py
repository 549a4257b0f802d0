"""Custom resources for tests, and their schemas as the CRDs have them."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
API_VERSION = "queuebox.dev/v1alpha1"
Level = str | int


class Change(NamedTuple):
    """A valid resource, and a change that the API server refuses."""

    kind: str
    name: str
    path: tuple[Level, ...]
    """Below spec."""
    value: Any
    """None takes the key away."""

    def spec(self) -> dict[str, Any]:
        return changed(sample(self.kind, self.name)["spec"], self.path, self.value)


class Refusal(NamedTuple):
    """A change, and what the API server and `check` say of it: where, and in which words."""

    change: Change
    server_place: str
    server_words: str
    place: str
    words: str


def refusals() -> list[Refusal]:
    """The table of tests/golden. `.` is the spec itself; `=` is what `check` says."""
    lines = (ROOT / "tests" / "golden" / "resource-refusals.tsv").read_text(encoding="utf-8").splitlines()
    return [_refusal(*line.split("\t")) for line in lines]


def _refusal(kind: str, name: str, path: str, value: str, *said: str) -> Refusal:
    server_place, server_words, place, words = said
    change = Change(kind, name, path_of(path), json.loads(value) if value else None)
    return Refusal(change, server_place, words if server_words == "=" else server_words, place, words)


def samples() -> list[dict[str, Any]]:
    """The valid resources."""
    text = (ROOT / "tests" / "golden" / "resources.yaml").read_text(encoding="utf-8")
    return [{"apiVersion": API_VERSION, **document} for document in yaml.safe_load_all(text)]


@cache
def _samples() -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["kind"], one["metadata"]["name"]): one for one in samples()}


def sample(kind: str, name: str) -> dict[str, Any]:
    return deepcopy(_samples()[kind, name])


def changed(spec: dict[str, Any], path: tuple[Level, ...], value: Any) -> dict[str, Any]:
    """`spec` with `value` at `path`; without what stands there, when `value` is None."""
    copy = deepcopy(spec)
    block: Any = copy
    for level in path[:-1]:
        block = block[level] if isinstance(level, int) else block.setdefault(level, {})
    if value is None:
        del block[path[-1]]
    else:
        block[path[-1]] = value
    return copy


def path_of(text: str) -> tuple[Level, ...]:
    """`http.auth` and `filter.require[0].in` as levels; a level in quotes may hold dots."""
    found: list[Level] = []
    for part in json.loads(text) if text.startswith("[") else text.split("."):
        name, *indices = str(part).replace("]", "").split("[")
        found += [name, *map(int, indices)]
    return tuple(found)


@cache
def crd(kind: str) -> dict[str, Any]:
    """The CRD of a kind, as its file has it."""
    found = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ROOT / "crds").glob("*.yaml"))
    return next(one for one in found if one["spec"]["names"]["kind"] == kind)


def schema(kind: str, part: str = "spec") -> dict[str, Any]:
    """The schema of `spec` or `status`."""
    found: dict[str, Any] = crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][part]
    return found


def places(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every place of a schema; an item of a list is `[]`, a value of a map `*`."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from places(child, (*path, name))
    for level, key in (("[]", "items"), ("*", "additionalProperties")):
        if key in node:
            yield from places(node[key], (*path, level))


def set_in(
    value: Any, node: dict[str, Any], at: tuple[Level, ...] = (), place: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[Level, ...], tuple[str, ...], dict[str, Any]]]:
    """Where `value` has something, the place of the schema that it stands at, and the schema there."""
    yield at, place, node
    if isinstance(value, dict):
        for name, child in value.items():
            if name in node.get("properties", {}):
                yield from set_in(child, node["properties"][name], (*at, name), (*place, name))
            elif "additionalProperties" in node:
                yield from set_in(child, node["additionalProperties"], (*at, name), (*place, "*"))
    if isinstance(value, list) and "items" in node:
        for index, child in enumerate(value):
            yield from set_in(child, node["items"], (*at, index), (*place, "[]"))


def limits() -> Iterator[tuple[Change, str, str]]:
    """For each enum, limit and required key of each schema: a change beyond it, the keyword, and the server's words."""
    seen: set[tuple[Any, ...]] = set()
    for one in samples():
        kind, name, spec = one["kind"], one["metadata"]["name"], one["spec"]
        for at, place, node in set_in(spec, schema(kind)):
            for path, value, keyword, words in beyond(at, node, spec):
                if (kind, place, keyword, path[len(at) :]) not in seen:
                    seen.add((kind, place, keyword, path[len(at) :]))
                    yield Change(kind, name, path, value), keyword, words


def beyond(
    at: tuple[Level, ...], node: dict[str, Any], spec: dict[str, Any]
) -> Iterator[tuple[tuple[Level, ...], Any, str, str]]:
    """What breaks each keyword of `node`, which stands at `at`."""
    for key in node.get("required", []):
        if key in value_at(spec, at):
            yield (*at, key), None, "required", "Required value|omits all key fields"
    for keyword, (words, value_beyond) in BEYOND.items():
        if keyword in node:
            yield at, value_beyond(node, value_at(spec, at)), keyword, words


def numbered(item: Any, node: dict[str, Any], count: int) -> list[Any]:
    """`count` items like `item`, which differ in the key that the list knows them by."""
    keys = node.get("x-kubernetes-list-map-keys", [])
    return [item | {key: f"{item[key]}{index}" for key in keys} if keys else item for index in range(count)]


def value_at(spec: Any, path: tuple[Level, ...]) -> Any:
    for level in path:
        spec = spec[level]
    return spec


BEYOND: dict[str, tuple[str, Callable[[dict[str, Any], Any], Any]]] = {
    "enum": ("Unsupported value", lambda node, value: "no such value"),
    "minimum": ("should be greater than or equal to", lambda node, value: node["minimum"] - 1),
    "maximum": ("should be less than or equal to", lambda node, value: node["maximum"] + 1),
    "maxLength": ("Too long", lambda node, value: "a" * (node["maxLength"] + 1)),
    "maxItems": ("Too many", lambda node, value: numbered(value[0], node, node["maxItems"] + 1)),
    "maxProperties": (
        "Too many",
        lambda node, value: {f"n{index}": next(iter(value.values())) for index in range(node["maxProperties"] + 1)},
    ),
}
"""What breaks a keyword, and what the API server says then."""
