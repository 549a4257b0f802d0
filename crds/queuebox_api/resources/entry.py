"""Source and Destination: what every kind has stands in the spec, what one kind has in the block of that kind."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from pydantic import Field
from pydantic.fields import FieldInfo

from queuebox_api.config.block import Block, Rule, Rules, is_given, literal
from queuebox_api.config.kinds import Kinds, kind_of, listed
from queuebox_api.config.structure import ROOT, Entries, Section
from queuebox_api.resources.cel import Locate, Place, moved, told_elsewhere
from queuebox_api.resources.derive import (
    Fields,
    block_field,
    fields_of,
    located,
    made,
    part_of_kind,
    reworded,
    rules_of,
)
from queuebox_api.resources.fields import ObjectRef

_FIRST_KEY: Final = re.compile(r"\bself\.(\w+)")
BOX: Final = (
    ObjectRef,
    Field(alias="queueBoxRef", description="The QueueBox that this belongs to, in the same namespace."),
)
SUSPEND: Final = (
    bool,
    Field(
        default=False, strict=True, alias="suspend", description="Keep what runs as it is until this is false again."
    ),
)


@dataclass(frozen=True)
class Entry:
    """An entry of `sources` or `destinations` as a resource."""

    kinds: Kinds

    @cached_property
    def shared(self) -> frozenset[str]:
        """The keys that every kind has: they stand in the spec itself."""
        keys = [{str(field.alias) for field in model.model_fields.values()} for model in self.kinds.models]
        return frozenset[str](set.intersection(*keys)) - {"type"}

    def model(self, kind: object) -> type[Block] | None:
        """The configuration's model of a kind."""
        return next((model for model in self.kinds.models if kind_of(model) == kind), None)

    def spec(self, name: str, text: str, extra: Rules = ()) -> type[Block]:
        """The model of `spec`."""
        names = self.kinds.names
        kind = Field(
            alias="type", description=f"The kind. It names the one block of {listed(names, 'and')} that is set."
        )
        fields: Fields = {"queue_box_ref": BOX, "type": (Literal[names], kind)}
        for model in self.kinds.models:
            block = part_of_kind(model, self.shared, tuple(self._rules_of_block(model)))
            fields[kind_of(model)] = block_field(kind_of(model), model, block)
        fields |= {name: self._shared_field(name, *field) for name, field in self._shared_fields()} | {
            "suspend": SUSPEND
        }
        return made(name, text, fields, (block_of_type(names), *self._needed(), *self._rules_of_spec(), *extra))

    def _shared_fields(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        model = self.kinds.models[-1]
        apart = {str(field.alias) for field in model.model_fields.values()} - self.shared
        yield from fields_of(model, frozenset(apart)).items()

    def _shared_field(self, name: str, hint: Any, field: FieldInfo) -> tuple[Any, Any]:  # noqa: ANN401  an annotation
        """Where the kinds differ in the default, the schema has none, and the text says which kind has which."""
        if not self._differs(name):
            return hint, field
        told = [f"{_default(model.model_fields[name])} ({kind_of(model)})" for model in self.kinds.models]
        text = f"{field.description} Default: {', '.join(told)}."
        return hint | None, Field(default=None, alias=field.alias, description=text)

    def _differs(self, name: str) -> bool:
        return len({_default(model.model_fields[name]) for model in self.kinds.models}) > 1

    def _needed(self) -> Iterator[Rule]:
        for model in self.kinds.models:
            for field in model.model_fields.values():
                key = str(field.alias)
                if key in self.shared and field.is_required():
                    cel = f"self.type != '{kind_of(model)}' || has(self.{key})"
                    yield Rule(cel, f"is required by type {kind_of(model)}", told_elsewhere, (key,))

    def _reads_spec(self, rule: Rule) -> bool:
        return not self.shared.isdisjoint(_FIRST_KEY.findall(rule.cel))

    def _rules_of_block(self, model: type[Block]) -> Iterator[Rule]:

        for rule in rules_of(model):
            if isinstance(rule, Rule) and not self._reads_spec(rule):
                yield rule

    def _rules_of_spec(self) -> Iterator[Rule]:
        """Each once, for the kinds that have it."""
        found: dict[Rule, list[str]] = {}
        for model in self.kinds.models:
            for rule in model.every_rule():
                if isinstance(rule, Rule) and self._reads_spec(rule):
                    told = reworded(model, moved(rule, self._located(model)))
                    found.setdefault(told, []).append(kind_of(model))
        for rule, kinds in found.items():
            unless = "" if len(kinds) == len(self.kinds.models) else f"!(self.type in {kinds})"
            yield moved(rule, Place, unless)

    def _located(self, model: type[Block]) -> Locate:
        """Where a resource of the kind of `model` has the keys of `model`."""
        within, kind = located(model), kind_of(model)

        def locate(keys: tuple[str, ...]) -> Place:
            place = within(keys)
            if keys[0] not in self.shared:
                return Place((kind, *place.path), (f"self.{kind}", *place.guards))
            name, field = next(item for item in model.model_fields.items() if item[1].alias == keys[0])
            default = literal(field.default) if self._differs(name) and isinstance(field.default, str) else None
            return place._replace(default=default)

        return locate


def _default(field: FieldInfo) -> str:
    return "required" if field.is_required() else f"`{field.get_default(call_default_factory=True)}`"


def block_of_type(names: tuple[str, ...]) -> Rule:
    """`type` names the one block that is set."""
    return Rule(
        " && ".join(f"(self.type == '{name}') == has(self.{name})" for name in names),
        f"set the one block that type names, and no other of {listed(names, 'and')}",
        lambda it: all((it.type == name) == is_given(it, name) for name in names),
    )


def _kinds_of(section: str) -> Kinds:
    entries = ROOT.keys[section]
    if not (isinstance(entries, Entries) and isinstance(entries.of, Section) and entries.of.kinds):
        raise TypeError(f"{section} has no kinds")
    return entries.of.kinds


SOURCE: Final = Entry(_kinds_of("sources"))
DESTINATION: Final = Entry(_kinds_of("destinations"))
SourceSpec: Final = SOURCE.spec("SourceSpec", "Where messages come from, and how the box stores them.")
DestinationSpec: Final = DESTINATION.spec(
    "DestinationSpec",
    "Where messages go, and how they are sent.",
    (
        Rule(
            "!has(self.headers) || self.headers.all(name, self.headers.exists_one(other, other.lowerAscii() == "
            "name.lowerAscii()))",
            "a header is set twice, in another letter case",
            told_elsewhere,
            ("headers",),
        ),
    ),
)
