"""A configuration with errors, as far as it can be read.

pydantic tests the rules of a block only when all of its keys are valid. A person wants to hear of everything at once,
so the rules are also tested on what a block is without its invalid keys. A rule that reads one of those is left out.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from queuebox_api.config.block import Block, Finding, UnreadableError
from queuebox_api.config.structure import Entries, Items, Node, Section, model_of, node_of_field
from queuebox_api.names import Path


class _Unreadable:
    def __getattr__(self, name: str) -> object:
        raise UnreadableError(name)


UNREADABLE: Final = _Unreadable()
"""Stands for an entry that cannot be read. Every attribute of it raises UnreadableError."""


def readable(node: Node, value: object, broken: AbstractSet[Path]) -> Any:  # noqa: ANN401  as the model says
    """`value` as models, without the keys whose paths are `broken`. Reading one of those raises UnreadableError."""
    return _Readable(broken).part(node, value, ())


class _Readable:
    def __init__(self, broken: AbstractSet[Path]) -> None:
        self._broken = broken
        self._touched = {path[:depth] for path in broken for depth in range(len(path) + 1)}
        """Every path at which or below which something is broken."""

    def part(self, node: Node, value: object, path: Path) -> Any:  # noqa: ANN401  as the model says
        if path in self._broken:
            return UNREADABLE
        match node, value:
            case Section(), Mapping():
                return self._block(node, value, path)
            case Entries(Section() as entry), Mapping():
                return {key: self.part(entry, content, (*path, key)) for key, content in value.items()}
            case Items(Section() as item), list():
                return tuple(self.part(item, content, (*path, i)) for i, content in enumerate(value))
            case _:
                return UNREADABLE

    def _block(self, section: Section, value: Mapping[str, object], path: Path) -> object:
        try:
            model = model_of(section, value)
        except ValidationError:
            return UNREADABLE
        block = model.model_construct()
        for name, field in model.model_fields.items():
            key = str(field.alias)
            if (*path, key) in self._touched:
                content = self.part(node_of_field(field), value.get(key), (*path, key))
            elif key in value:
                content = _reader(model, name).validate_python(value[key])
            else:
                continue
            block.__dict__[name] = content
            if content is UNREADABLE:
                del block.__dict__[name]
        return block


@cache
def _reader(model: type[Block], name: str) -> TypeAdapter[Any]:
    return TypeAdapter(model.model_fields[name].rebuild_annotation())


def broken_rules(value: object, path: Path = ()) -> Iterator[Finding]:
    """The rules that do not hold in `value` and below, of those that can be told."""
    children: list[tuple[str | int, object]]
    match value:
        case Block():
            for rule in value.every_rule():
                with suppress(UnreadableError):
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
