"""A configuration with errors, as far as it can be read.

pydantic tests the rules of a block only when all of its keys are valid. A person wants to hear of everything at once,
so the rules are also tested on what a block is without its invalid keys. A rule that reads one of those is left out.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from queuebox_api.config.block import Block, Finding
from queuebox_api.config.structure import Entries, Items, Node, Section, model_of, node_of_field
from queuebox_api.names import Path

UNREADABLE: Final = object()
"""Stands for an entry that cannot be read. Every attribute of it raises AttributeError."""


def readable(node: Node, value: object, broken: Collection[Path], path: Path = ()) -> Any:  # noqa: ANN401  as the model says
    """`value` as models, without the keys whose paths are `broken`. Reading one of those raises AttributeError."""
    if path in broken:
        return UNREADABLE
    match node, value:
        case Section(), Mapping():
            return _block(node, value, broken, path)
        case Entries(Section() as entry), Mapping():
            return {key: readable(entry, content, broken, (*path, key)) for key, content in value.items()}
        case Items(Section() as item), list():
            return tuple(readable(item, content, broken, (*path, i)) for i, content in enumerate(value))
        case _:
            return UNREADABLE


def _block(section: Section, value: Mapping[str, object], broken: Collection[Path], path: Path) -> object:
    try:
        model = model_of(section, value)
    except ValidationError:
        return UNREADABLE
    part = model.model_construct()
    for name, field in model.model_fields.items():
        key = str(field.alias)
        if _touched((*path, key), broken):
            content = readable(node_of_field(field), value.get(key), broken, (*path, key))
        elif key in value:
            content = TypeAdapter(field.rebuild_annotation()).validate_python(value[key])
        else:
            continue
        part.__dict__[name] = content
        if content is UNREADABLE:
            del part.__dict__[name]
    return part


def _touched(path: Path, broken: Iterable[Path]) -> bool:
    return any(each[: len(path)] == path for each in broken)


def broken_rules(value: object, path: Path = ()) -> Iterator[Finding]:
    """The rules that do not hold in `value` and below, of those that can be told."""
    children: list[tuple[str | int, object]]
    match value:
        case Block():
            for rule in value.rules:
                with suppress(AttributeError):
                    yield from (Finding((*path, *found.path), found.text) for found in rule.findings(value))
            fields = type(value).model_fields.items()
            children = [(str(field.alias), value.__dict__[name]) for name, field in fields if name in value.__dict__]
        case dict():
            children = list(value.items())
        case tuple():
            children = list(enumerate(value))
        case _:
            return
    for level, child in children:
        yield from broken_rules(child, (*path, level))
