"""The resource form of a block of the configuration: the same keys, texts, limits, defaults and rules.

What differs: a credential `x` is `xSecretRef`; a URL that may carry one is `url` or `urlSecretRef`; a union of kinds is
one optional block per kind; a number is never text; and no text holds a placeholder.
"""

import re
from collections.abc import Mapping
from functools import cache, reduce
from operator import getitem, or_
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BeforeValidator, Field, Strict, create_model
from pydantic.fields import FieldInfo

from queuebox_api.config.block import Block, Rule, Rules, exactly_one_of, matching
from queuebox_api.config.fields import Shape
from queuebox_api.config.kinds import Kinds, kind_of
from queuebox_api.config.structure import Leaf, Section, node_of_field
from queuebox_api.config.transform import Transform
from queuebox_api.resources.cel import Locate, Place, moved
from queuebox_api.resources.fields import NO_PLACEHOLDER, PlainUrl, SecretRef

Fields = dict[str, tuple[Any, Any]]
"""As `create_model` takes them: annotation and default by name."""

_LIKE_PLACEHOLDER: Final = r"""\$\{([^}\s"']*|[A-Za-z_][A-Za-z0-9_.]*:-[^}]*)\}"""
_EXPRESSION: Final = Rule(
    f"!{matching(_LIKE_PLACEHOLDER, 'self.expression')}",
    "must not hold ${name}, which the agent would take for a placeholder: write a blank behind ${",
    lambda it: re.search(_LIKE_PLACEHOLDER, it.expression) is None,
    at=("expression",),
)
_HELD_PLACEHOLDERS: Final = ("${x}", "$.${x}")


def secret_key(key: str) -> str:
    """What the reference to the Secret of a credential is called."""
    return f"{key}SecretRef"


def block_key(kind: str) -> str:
    """The key of the block of a kind: `api-key` is `apiKey`."""
    first, *others = kind.split("-")
    return first + "".join(map(str.capitalize, others))


@cache
def part(model: type[Block]) -> type[Block]:
    """The resource form of `model`."""
    return made(model.__name__, model.__doc__, fields_of(model), rules_of(model))


@cache
def one_of(kinds: Kinds) -> type[Block]:
    """The resource form of a union: exactly one block, of the kind that is meant."""
    fields = {
        kind_of(model).replace("-", "_"): block_field(block_key(kind_of(model)), model, part_of_kind(model))
        for model in kinds.models
    }
    rule = exactly_one_of(*(block_key(name) for name in kinds.names))
    return made("Or".join(model.__name__ for model in kinds.models), "Exactly one of these blocks.", fields, (rule,))


def part_of_kind(model: type[Block], but: frozenset[str] = frozenset(), rules: Rules | None = None) -> type[Block]:
    """The resource form of a kind: its block's own name says the kind, so that `type` is not in it."""
    fields = fields_of(model, but | {"type"})
    return made(model.__name__, model.__doc__, fields, rules_of(model) if rules is None else rules)


def made(name: str, text: str | None, fields: Fields, rules: Rules) -> type[Block]:
    """A model of these fields and rules."""
    model: type[Block] = create_model(name, __base__=Block, __doc__=text, **fields)  # type: ignore[call-overload]  # fields are known when it runs
    model.rules = rules
    return model


def block_field(key: str, model: type[Block], block: type[Block]) -> tuple[Any, Any]:
    """An optional block, with what `model` says of itself."""
    return block | None, Field(default=None, alias=key, description=model.__doc__)


def fields_of(model: type[Block], but: frozenset[str] = frozenset()) -> Fields:
    """The fields of the resource form, without the keys `but`."""
    fields: Fields = {}
    for name, field in model.model_fields.items():
        if str(field.alias) not in but:
            fields |= _field(model, name, field)
    return fields


def _field(model: type[Block], name: str, field: FieldInfo) -> Fields:
    key, text = str(field.alias), in_words(model, str(field.description))
    node = node_of_field(field)
    if isinstance(node, Leaf) and node.secret:
        return _secret_fields(name, key, text, field, may_be_plain=node.url)
    optional = isinstance(node, Section) and not field.is_required()
    hint = in_resource(field.rebuild_annotation(), free=(model, name) != (Transform, "expression"))
    default = None if optional else field.get_default(call_default_factory=True)
    return {name: (hint | None if optional else hint, Field(default=default, alias=key, description=text))}


def _secret_fields(name: str, key: str, text: str, field: FieldInfo, *, may_be_plain: bool) -> Fields:
    needed = field.is_required() and not may_be_plain
    reference = Field(default=... if needed else None, alias=secret_key(key), description=f"{text} Read from a Secret.")
    fields: Fields = {f"{name}_secret_ref": (SecretRef if needed else SecretRef | None, reference)}
    if may_be_plain:
        plain = f"{text} One that carries a user name or a password stands in {secret_key(key)}."
        fields = {name: (PlainUrl | None, Field(default=None, alias=key, description=plain)), **fields}
    return fields


def in_words(model: type[Block], text: str, quote: str = "`") -> str:
    """`text` with the names that the credentials of `model` have in a resource: of those, that stand in quotes."""
    for key in (key for key, leaf in _secrets(model).items() if not leaf.url):
        text = re.sub(rf"(?<!\w){quote}\b{key}\b{quote}(?!\w)", f"{quote}{secret_key(key)}{quote}", text)
    return text


def _secrets(model: type[Block]) -> Mapping[str, Leaf]:
    nodes = {str(field.alias): node_of_field(field) for field in model.model_fields.values()}
    return {key: node for key, node in nodes.items() if isinstance(node, Leaf) and node.secret}


def in_resource(hint: Any, *, free: bool = True) -> Any:  # noqa: ANN401  an annotation is any object
    """An annotation of the configuration as the resource has it; `free` text may hold no placeholder."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:], free=free)
    if origin in (Union, UnionType):
        return reduce(or_, (in_resource(argument, free=free) for argument in arguments))
    if origin is tuple:
        return list[in_resource(arguments[0], free=free)]  # type: ignore[misc]  # known when it runs
    if origin is dict:
        return dict[in_resource(arguments[0], free=False), in_resource(arguments[1], free=free)]  # type: ignore[misc]  # known when it runs
    return _single(hint)


def _single(hint: Any) -> Any:  # noqa: ANN401  an annotation is any object
    if hint in (bool, int):
        return Annotated[hint, Strict()]
    return part(hint) if isinstance(hint, type) and issubclass(hint, Block) else hint


def _annotated(hint: Any, marks: tuple[object, ...], *, free: bool) -> Any:  # noqa: ANN401  an annotation is any object
    for mark in marks:
        if isinstance(mark, Kinds):
            return one_of(mark)
    kept = [mark for mark in marks if not isinstance(mark, BeforeValidator)]
    if hint is str and free and _may_hold_placeholder(kept):
        kept.append(NO_PLACEHOLDER)
    converted = in_resource(hint, free=free)
    return getitem(Annotated, (converted, *kept)) if kept else converted


def _may_hold_placeholder(marks: list[object]) -> bool:
    shapes = [mark for mark in marks if isinstance(mark, Shape)]
    return any(all(re.fullmatch(shape.pattern, text) for shape in shapes) for text in _HELD_PLACEHOLDERS)


def rules_of(model: type[Block]) -> Rules:
    """The rules of `model` as its resource form tells them."""
    plain = [key for key, leaf in _secrets(model).items() if leaf.url]
    return (
        *(reworded(model, moved(rule, located(model))) for rule in model.every_rule() if isinstance(rule, Rule)),
        *(exactly_one_of(key, secret_key(key)) for key in plain),
        *([_EXPRESSION] if model is Transform else []),
    )


def reworded(model: type[Block], rule: Rule) -> Rule:
    """`rule` with a message that names credentials as the resource does."""
    return rule._replace(message=in_words(model, rule.message, quote=""))


def located(model: type[Block]) -> Locate:
    """Where the resource form of `model` has the keys of `model`."""

    def locate(keys: tuple[str, ...]) -> Place:
        path: list[str] = []
        guards: list[str] = []
        current: type[Block] | None = model
        for key in keys:
            node = _node(current, key)
            path.append(secret_key(key) if isinstance(node, Leaf) and node.secret else key)
            current = node.models[0] if isinstance(node, Section) and not node.kinds else None
            if current and len(path) < len(keys):
                guards.append(".".join(("self", *path)))
        return Place(tuple(path), tuple(guards))

    return locate


def _node(model: type[Block] | None, key: str) -> object:
    fields = model.model_fields.values() if model else ()
    return next((node_of_field(field) for field in fields if field.alias == key), None)
