"""The keys of queuebox.yml as a tree, read off the models: what a loader and the reference pages walk."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from queuebox_api.config.block import Block
from queuebox_api.config.fields import IN_FILE
from queuebox_api.config.kinds import Kinds
from queuebox_api.config.root import Config
from queuebox_api.config.secret import SecretUrl


@dataclass(frozen=True)
class Leaf:
    """One value."""

    secret: bool = False
    file: bool = False
    """`file:` and a path may stand in its place."""
    url: bool = False
    """Of a secret: it is a URL, which is a secret only when it carries a credential."""


@dataclass(frozen=True)
class Section:
    """A block of keys: of one model, or of the kinds of an entry."""

    models: tuple[type[Block], ...]
    kinds: Kinds | None = None

    @property
    def keys(self) -> Mapping[str, "Node"]:
        """Every key and what it holds."""
        return _keys(self.models)


@dataclass(frozen=True)
class Entries:
    """A map: the user chooses the keys."""

    of: "Node"


@dataclass(frozen=True)
class Items:
    """A list."""

    of: "Node"


Node = Leaf | Section | Entries | Items

ROOT = Section((Config,))


@cache
def _keys(models: tuple[type[Block], ...]) -> Mapping[str, Node]:
    return {str(field.alias): node_of_field(field) for model in models for field in model.model_fields.values()}


def node_of_field(field: FieldInfo) -> Node:
    """What the key of `field` holds."""
    return _node(field.annotation, tuple(field.metadata))


def _node(annotation: Any, metadata: tuple[object, ...] = ()) -> Node:  # noqa: ANN401  an annotation is any object
    kinds = [item for item in metadata if isinstance(item, Kinds)]
    if kinds:
        return Section(kinds[0].models, kinds[0])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _node(arguments[0], arguments[1:])
    if origin in (Union, UnionType):
        return _node(next(argument for argument in arguments if argument is not type(None)))
    if origin in (dict, tuple):
        return Entries(_node(arguments[1])) if origin is dict else Items(_node(arguments[0]))
    one = annotation if isinstance(annotation, type) else str
    if issubclass(one, Block):
        return Section((one,))
    secret = issubclass(one, SecretStr)
    return Leaf(secret=secret, file=secret or IN_FILE in metadata, url=issubclass(one, SecretUrl))


def below(node: Node, level: str | int) -> Node | None:
    """What stands at `level` of `node`; None when nothing can."""
    match node, level:
        case Section(), str():
            return node.keys.get(level)
        case (Entries(of), str()) | (Items(of), int()):
            return of
        case _:
            return None


def model_of(section: Section, value: Mapping[str, object]) -> type[Block]:
    """The model that `value` is to be read as. Raises ValidationError when its kind cannot be told."""
    return section.kinds.select(value) if section.kinds else section.models[0]
