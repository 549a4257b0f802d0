"""What every part of the configuration shares: names, strictness, and rules that are said once for everybody."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError
from typing_extensions import override

from queuebox_api.names import Path


class Finding(NamedTuple):
    """One thing that is wrong: where, and what. The text is for a person and quotes no value."""

    path: Path
    text: str


class Rule(NamedTuple):
    """A rule across the keys of one block, said twice: in CEL for an API server, as a predicate for everybody else."""

    cel: str
    message: str
    holds: Callable[[Any], bool]
    at: Path = ()
    """The key, below the block, that a person would change."""

    def findings(self, block: "Block") -> Iterator[Finding]:
        """Nothing when the rule holds."""
        if not self.holds(block):
            yield Finding(self.at, self.message)


class Check(NamedTuple):
    """A rule that only Python can tell, because its place or its words depend on the values."""

    findings: Callable[[Any], Iterable[Finding]]


Rules = tuple[Rule | Check, ...]


class Told(NamedTuple):
    """What a validator of a single value tests, in CEL for an API server. In Python, it tests nothing."""

    cel: str
    message: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        rule = {"rule": self.cel, "message": self.message}
        return schema | {"x-kubernetes-validations": [*schema.get("x-kubernetes-validations", []), rule]}


class UnreadableError(AttributeError):
    """What is read of a configuration with errors is not there (see `examine`)."""


class Block(BaseModel):
    """A part of the configuration: frozen, camelCase in YAML, and an unknown key is an error (spec page 24)."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )
    rules: ClassVar[Rules] = ()
    """The rules that this block adds to those of the blocks that it derives from."""

    @classmethod
    def every_rule(cls) -> Rules:
        """The rules of this block and of those that it derives from, theirs first."""
        return tuple(rule for base in reversed(cls.__mro__) for rule in vars(base).get("rules", ()))

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        broken = [finding for rule in self.every_rule() for finding in rule.findings(self)]
        if broken:
            raise rejected(type(self).__name__, *broken)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """A key of the model that is not there, in a block that is not whole. Any other name is a slip of ours."""
            if name in type(self).model_fields:
                raise UnreadableError(name)
            return super().__getattr__(name)

    @classmethod
    @override
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        reference = handler(core)
        spoken = [rule for rule in cls.every_rule() if isinstance(rule, Rule)]
        if spoken:
            handler.resolve_ref_schema(reference)["x-kubernetes-validations"] = [
                {"rule": rule.cel, "message": rule.message} | _field_path(rule) for rule in spoken
            ]
        return reference


def _field_path(rule: Rule) -> dict[str, str]:
    return {"fieldPath": "".join(f".{level}" for level in rule.at)} if rule.at else {}


def rejected(title: str, *findings: Finding) -> ValidationError:
    """`findings` as the error that pydantic merges, with their paths, into the one of the enclosing block."""
    lines = [
        InitErrorDetails(type=PydanticCustomError("rule", finding.text), loc=finding.path, input=None)
        for finding in findings
    ]
    return ValidationError.from_exception_data(title, lines)


def is_given(block: Block, alias: str) -> bool:
    """Python's answer to CEL's `has(self.alias)` for a key without a default."""
    names = (name for name, field in type(block).model_fields.items() if field.alias == alias)
    return getattr(block, next(names)) is not None


def member(alias: str) -> str:
    """`alias` in CEL, which writes its reserved words with underscores: a key `in` is `self.__in__`."""
    return f"self.__{alias}__" if alias in {"in", "const", "import", "let", "namespace", "package"} else f"self.{alias}"


def literal(text: str) -> str:
    """`text` as a literal of CEL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def matching(pattern: str, value: str = "self") -> str:
    """In CEL, whether `pattern` is found in `value`."""
    return f"{value}.matches({literal(pattern)})"


def needs(key: str, other: str) -> Rule:
    """`key` is of no use without `other`."""
    return Rule(
        f"!has({member(key)}) || has({member(other)})",
        f"is required with {key}",
        lambda block: not is_given(block, key) or is_given(block, other),
        at=(other,),
    )


def not_both(key: str, other: str) -> Rule:
    """`key` and `other` exclude each other."""
    return Rule(
        f"!(has({member(key)}) && has({member(other)}))",
        f"set {key} or {other}, not both",
        lambda block: not (is_given(block, key) and is_given(block, other)),
        at=(other,),
    )


def exactly_one_of(*keys: str) -> Rule:
    """One of `keys` is set, and only one."""
    return Rule(
        f"[{', '.join(f'has({member(key)})' for key in keys)}].filter(given, given).size() == 1",
        f"set exactly one of {', '.join(keys)}",
        lambda block: sum(is_given(block, key) for key in keys) == 1,
    )
