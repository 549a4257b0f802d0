"""Everything that is wrong with a spec, in terms of the resource."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from queuebox_api.config.block import Block, Finding, Rule
from queuebox_api.config.examine import examine, in_words
from queuebox_api.config.kinds import keys_of, unknown_key
from queuebox_api.config.structure import ROOT, Entries, Items, Node, Section, below
from queuebox_api.names import Path
from queuebox_api.resources.database import KeysOf
from queuebox_api.resources.derive import reworded, secret_key
from queuebox_api.resources.kinds import kind as kind_named
from queuebox_api.resources.translate import Spec, resource_path, to_config, unknown_keys
from queuebox_api.unsupported import unsupported

_DATABASES: Final = {
    "postgresql": "postgresql://user:password@database/name",
    "sqlserver": "jdbc:sqlserver://database;user=user;password=password",
}
_IN_A_FILE: Final = "file:"


def check(kind: str, spec: Spec, keys_of: KeysOf = unknown_keys) -> list[Finding]:
    """What the schema, its rules, or the configuration that the spec stands for refuse; one finding for each place.

    What stands in a Secret is not looked at.
    """
    shape = _shape(kind_named(kind).spec, spec)
    found = {finding.path: finding for finding in (*shape, *_of_config(kind, spec, keys_of))[::-1]}
    broken = set(found)
    return [found[path] for path in reversed(found) if not any(path[:depth] in broken for depth in range(len(path)))]


def _shape(model: type[Block], spec: Spec) -> list[Finding]:
    try:
        model.model_validate(spec)
    except ValidationError as error:
        lines = error.errors(include_url=False, include_input=False)
        return [Finding(_place(line), _words(line, model)) for line in lines]
    return []


def _place(line: ErrorDetails) -> Path:
    return line["loc"][:-1] if line["loc"][-1:] == ("[key]",) and line["type"] != "extra_forbidden" else line["loc"]


def _words(line: ErrorDetails, model: type[Block]) -> str:
    if line["type"] != "extra_forbidden":
        return in_words(line)
    node: Node | None = Section((model,))
    for level in line["loc"][:-1]:
        node = below(node, level) if node else None
    known = keys_of(node.models[0]) if isinstance(node, Section) else frozenset[str]()
    key = str(line["loc"][-1])
    return f"stands in a Secret: use {secret_key(key)}" if secret_key(key) in known else unknown_key(key, known)


def gaps(kind: str, spec: Spec, keys_of: KeysOf = unknown_keys) -> list[Finding]:
    """What a spec asks for and this version cannot do yet (`queuebox_api.unsupported`)."""
    tree, depth = _whole(kind, to_config(kind, spec, _mounted, keys_of))
    found = (finding._replace(path=finding.path[depth:]) for finding in unsupported(examine(tree)[0]))
    return [finding._replace(path=resource_path(kind, finding.path, spec)) for finding in found]


def _of_config(kind: str, spec: Spec, keys_of: KeysOf) -> list[Finding]:
    tree, depth = _whole(kind, to_config(kind, spec, _mounted, keys_of))
    found = (finding._replace(path=finding.path[depth:]) for finding in examine(tree)[1])
    return [_in_resource(kind, finding, spec) for finding in found]


def _in_resource(kind: str, finding: Finding, spec: Spec) -> Finding:
    place = resource_path(kind, finding.path, spec)
    if kind == "QueueBox" and finding.path == ("database", "url") != place and finding.text == "is required":
        return Finding(finding.path, "is required: the Secret holds a user name and a password only")
    return _at_what_is_missing(Finding(place, _RENAMED.get(finding.text, finding.text)), spec)


def _mounted(secret: str, key: str) -> str:  # noqa: ARG001  every value is as good as another
    return _IN_A_FILE


def _renamed(section: Section) -> Iterator[tuple[str, str]]:
    """What the configuration says of a credential, and how a resource calls it."""
    for model in section.models:
        yield from (
            (rule.message, reworded(model, rule).message) for rule in model.every_rule() if isinstance(rule, Rule)
        )
    for node in section.keys.values():
        inner = node.of if isinstance(node, Entries | Items) else node
        if isinstance(inner, Section):
            yield from _renamed(inner)


_RENAMED: Final = dict(_renamed(ROOT))


def _whole(kind: str, entry: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """A configuration around `entry`, and how many levels stand above it."""
    database: dict[str, Any] = {"url": _DATABASES["postgresql"]}
    if kind == "Source":
        return {"database": database, "sources": {"x": entry}}, 2
    if kind == "Destination":
        return {"database": database, "destinations": {"x": entry}}, 2
    if kind == "Route":
        name = entry.get("destination")
        known = {name: {"type": "http", "baseUrl": "http://x"}} if isinstance(name, str) and name.strip() else {}
        return {"database": database, "destinations": known, "routes": [entry]}, 2
    own = entry.get("database")
    if isinstance(own, Mapping) and own.get("url") == _IN_A_FILE:
        url = _DATABASES.get(str(own.get("type", "postgresql")), _DATABASES["postgresql"])
        return {**entry, "database": {**own, "url": url}}, 0
    return entry, 0


def _at_what_is_missing(finding: Finding, spec: Spec) -> Finding:
    """A key of a block that is not there at all is no matter: the block is."""
    value: object = spec
    for depth, level in enumerate(finding.path[:-1]):
        value = value.get(level) if isinstance(value, Mapping) else None
        if value is None:
            return Finding(finding.path[: depth + 1], "is required")
        if not isinstance(value, Mapping):
            return finding
    return finding
