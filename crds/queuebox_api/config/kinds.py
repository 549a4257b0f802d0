"""How `type`, or the keys that are set, select the kind of an entry (spec page 24)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from queuebox_api.config.block import Block, Finding, rejected
from queuebox_api.spelling import closest


def keys_of(model: type[Block]) -> frozenset[str]:
    """Every key that a block of `model` takes."""
    return frozenset(str(field.alias) for field in model.model_fields.values())


def required_keys_of(model: type[Block]) -> frozenset[str]:
    """The keys that a block of `model` cannot do without."""
    return frozenset(str(field.alias) for field in model.model_fields.values() if field.is_required())


def listed(words: Iterable[str], last: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def unknown_key(key: str, known: Iterable[str]) -> str:
    """What is said of a key that is none of `known`."""
    near = closest(key.partition(":")[0], sorted(known))  # `password:letmein` lacks a blank
    return f"is not a known key; did you mean {near}?" if near else "is not a known key"


@dataclass(frozen=True)
class Kinds:
    """The kinds of one sort of entry, as an annotation of the union of their models.

    It validates against the one kind that is meant, so that an error speaks of that kind only.
    """

    entry: str
    """What an entry is called: destination, source, auth block."""
    models: tuple[type[Block], ...]
    otherwise: type[Block] | None = None
    """The kind of an entry without `type` whose keys tell nothing."""

    @property
    def names(self) -> tuple[str, ...]:
        """The values of `type`."""
        return tuple(map(kind_of, self.models))

    def select(self, entry: Mapping[str, object]) -> type[Block]:
        """The model of `entry`. Raises ValidationError, at `type`, when the kind cannot be told."""
        if "type" in entry:
            named = [model for model in self.models if kind_of(model) == entry["type"]]
            if not named:
                near = closest(str(entry["type"]), self.names)
                raise self._untold(entry, f"must be {listed(self.names)}{f'; did you mean {near}?' if near else ''}")
            return named[0]
        candidates = self._complete(entry) or self._begun(entry) or [self.otherwise]
        if len(candidates) == 1 and candidates[0] is not None:
            return candidates[0]
        fitting = [kind_of(model) for model in candidates if model]
        reason = f"its keys fit {listed(fitting, 'and')}" if fitting else "its keys fit no kind"
        raise self._untold(entry, f"set type to {listed(self.names)}: {reason}")

    def owners(self, key: str) -> list[str]:
        """The kinds that take `key`."""
        return [kind_of(model) for model in self.models if key in keys_of(model)]

    def _untold(self, entry: Mapping[str, object], reason: str) -> ValidationError:
        """Without a kind, no model tells which keys are wrong. Those that no kind has are."""
        every_key = frozenset[str]().union(*map(keys_of, self.models))
        unknown = [Finding((key,), unknown_key(key, every_key)) for key in entry if key not in every_key]
        return rejected(self.entry, Finding(("type",), reason), *unknown)

    def _complete(self, entry: Mapping[str, object]) -> list[type[Block] | None]:
        return [model for model in self.models if required_keys_of(model) <= entry.keys()]

    def _begun(self, entry: Mapping[str, object]) -> list[type[Block] | None]:
        """The kinds of which a required key is set that no other kind takes."""
        return [
            model
            for model in self.models
            if any(self.owners(key) == [kind_of(model)] for key in required_keys_of(model) & entry.keys())
        ]

    def _validated(self, value: Any) -> Block:  # noqa: ANN401  whatever was given for the entry
        if isinstance(value, self.models):
            return value
        if not isinstance(value, Mapping):
            raise PydanticCustomError("block", "must be a block of keys")
        return self.select(value).model_validate(value)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(lambda value, _: self._validated(value), handler(source))


def kind_of(model: type[Block]) -> str:
    """The value of `type` that selects `model`."""
    return str(model.model_fields["type"].default)
