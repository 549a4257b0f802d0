"""From a resource to its entry of queuebox.yml, and from a place in that entry back to the resource."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from queuebox_api.config.block import Block
from queuebox_api.config.kinds import Kinds, kind_of
from queuebox_api.config.root import Config
from queuebox_api.config.routes import Route
from queuebox_api.config.structure import Entries, Items, Leaf, Node, Section, node_of_field
from queuebox_api.names import Path
from queuebox_api.resources.database import KeysOf, Read, connection
from queuebox_api.resources.derive import block_key, secret_key
from queuebox_api.resources.entry import DESTINATION, SOURCE, Entry
from queuebox_api.resources.specs import SECTIONS

Mount = Callable[[str, str], str]
"""What the configuration holds for a key of a Secret, by the names of both."""
Spec = Mapping[str, Any]

ENTRIES: Final[Mapping[str, Entry]] = {"Source": SOURCE, "Destination": DESTINATION}
_DATABASE_SECRET: Final = ("database", "secretRef")


def unknown_keys(secret: str) -> None:
    """Nobody has looked at the keys of that Secret."""


def to_config(kind: str, spec: Spec, mount: Mount, keys_of: KeysOf = unknown_keys) -> dict[str, Any]:
    """The entry of queuebox.yml that a spec asks for; of a QueueBox, the sections.

    What equals the configuration's own default is left out. What is not as the schema says is passed on as it is.
    """
    if entry := ENTRIES.get(kind):
        model, own = entry.model(spec.get("type")), spec.get(str(spec.get("type")))
        if model is None:
            return {"type": spec.get("type")}
        merged = {**(own if isinstance(own, Mapping) else {}), **{key: spec.get(key) for key in entry.shared}}
        return {"type": spec["type"], **_block(model, merged, mount)}
    if kind == "Route":
        destination = spec.get("destinationRef")
        name = destination.get("name") if isinstance(destination, Mapping) else destination
        return _block(Route, {**spec, "destination": name}, mount)
    return _sections(spec, mount, keys_of)


def _sections(spec: Spec, mount: Mount, keys_of: KeysOf) -> dict[str, Any]:
    sections = _block(Config, {key: spec.get(key) for key in SECTIONS}, mount)
    given = _given(spec, *_DATABASE_SECRET)
    if isinstance(given, Mapping):
        name, database = str(given.get("name")), sections.setdefault("database", {})
        for key, value in connection(given, database.get("url"), keys_of(name)).items():
            database[key] = mount(name, value.key) if isinstance(value, Read) else value
    return sections


def _block(model: type[Block], value: Spec, mount: Mount) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in model.model_fields.values():
        key = str(field.alias)
        content = _content(node_of_field(field), key, value, mount)
        if content is not None and not _is_default(content, field.get_default(call_default_factory=True)):
            found[key] = content
    return {key: content for key, content in found.items() if key != "type" or not _is_kind(model)}


def _is_kind(model: type[Block]) -> bool:
    return any(model in entry.kinds.models for entry in ENTRIES.values())


def _is_default(content: object, default: object) -> bool:
    return content == default or content in ({}, [])


def _content(node: Node, key: str, value: Spec, mount: Mount) -> Any:  # noqa: ANN401  as the resource has it
    if isinstance(node, Leaf) and node.secret:
        reference = value.get(secret_key(key))
        if isinstance(reference, Mapping):
            return mount(str(reference.get("name")), str(reference.get("key")))
        return value.get(key) if node.url else reference
    return _translated(node, value.get(key), mount)


def _translated(node: Node, value: Any, mount: Mount) -> Any:  # noqa: ANN401  as the resource has it
    match node, value:
        case Section(kinds=Kinds() as kinds), Mapping():
            return _of_kind(kinds, value, mount)
        case Section(), Mapping():
            return _block(node.models[0], value, mount)
        case Items(of), list():
            return [_translated(of, item, mount) for item in value]
        case Entries(of), Mapping():
            return {name: _translated(of, item, mount) for name, item in value.items()}
        case _:
            return value


def _of_kind(kinds: Kinds, value: Spec, mount: Mount) -> dict[str, Any]:
    model = given_kind(kinds, value)
    if model is None:
        return {"type": None}
    block = value[block_key(kind_of(model))]
    content = _block(model, block, mount) if isinstance(block, Mapping) else {}
    return {"type": kind_of(model), **{key: item for key, item in content.items() if key != "type"}}


def given_kind(kinds: Kinds, value: Spec) -> type[Block] | None:
    """The kind whose block is there."""
    return next((model for model in kinds.models if value.get(block_key(kind_of(model))) is not None), None)


def _given(value: object, *path: str) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def secret_refs(kind: str, spec: Spec, keys_of: KeysOf = unknown_keys) -> list[tuple[Path, str, str]]:
    """Each key of a Secret that the configuration of a spec reads: where it is asked for, the Secret, and the key."""
    parts = {key: value for key, value in spec.items() if kind != "QueueBox" or key in SECTIONS}
    found = list(_references(parts, ()))
    given = _given(spec, *_DATABASE_SECRET)
    if kind == "QueueBox" and isinstance(given, Mapping):
        url, name = _given(spec, "database", "url"), str(given.get("name"))
        values = connection(given, url if isinstance(url, str) else None, keys_of(name)).values()
        found += [(_DATABASE_SECRET, name, value.key) for value in values if isinstance(value, Read)]
    return found


def _references(value: object, path: Path) -> Iterator[tuple[Path, str, str]]:
    if not isinstance(value, Mapping):
        return
    for key, content in value.items():
        named, of = (content.get("name"), content.get("key")) if isinstance(content, Mapping) else (None, None)
        if key.endswith(secret_key("")) and isinstance(named, str) and isinstance(of, str):
            yield (*path, key), named, of
        else:
            yield from _references(content, (*path, key))


def resource_path(kind: str, path: Path, spec: Spec) -> Path:
    """Where a resource has what its entry of queuebox.yml has at `path`."""
    if entry := ENTRIES.get(kind):
        model = entry.model(spec.get("type"))
        if model is None or path[:1] == ("type",) or not path:
            return path[:1]
        if path[0] in entry.shared:
            return _path(model, path, spec)
        own = kind_of(model)
        return (own, *_path(model, path, _mapping(spec.get(own))))
    if kind == "Route":
        return ("destinationRef", "name") if path[:1] == ("destination",) else _path(Route, path, spec)
    if (
        path[:1] == ("database",)
        and path[1:] in {("url",), ("username",), ("password",)}
        and _given(spec, *_DATABASE_SECRET)
    ):
        return ("database", "url") if _given(spec, "database", "url") and path[1] == "url" else _DATABASE_SECRET
    return _path(Config, path, spec)


def _mapping(value: object) -> Spec:
    return value if isinstance(value, Mapping) else {}


def _path(model: type[Block], path: Path, value: Spec) -> Path:
    if not path:
        return ()
    key, *below = path
    field = next((field for field in model.model_fields.values() if field.alias == key), None)
    node = node_of_field(field) if field else None
    content = _mapping(value.get(str(key)))
    match node:
        case Leaf(secret=True, url=url):
            return (
                (str(key) if url and secret_key(str(key)) not in value and key in value else secret_key(str(key))),
                *below,
            )
        case Section(kinds=Kinds() as kinds):
            kind = given_kind(kinds, content)
            if kind is None or below[:1] == ["type"]:
                return (key,)
            own = block_key(kind_of(kind))
            return (key, own, *_path(kind, tuple(below), _mapping(content.get(own))))
        case Section():
            return (key, *_path(node.models[0], tuple(below), content))
        case _:
            return path
