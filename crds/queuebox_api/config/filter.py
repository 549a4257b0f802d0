"""The block `filter` of a source (spec page 24)."""

from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from queuebox_api.config.block import Block, Rules, Told, exactly_one_of
from queuebox_api.config.fields import Flag, HeaderValue, Name, TopicPattern

_ONLY_TRUE: Final = "must be true; to leave out messages that carry the header, use exclude"


def _only_true(value: bool) -> bool:  # noqa: FBT001  a validator takes the value
    if not value:
        raise PydanticCustomError("only_true", _ONLY_TRUE)
    return value


class HeaderRule(Block):
    """A test of one header: exactly one of `equals`, `in`, `matches` and `exists`."""

    rules: ClassVar[Rules] = (exactly_one_of("equals", "in", "matches", "exists"),)
    header: Name
    """The name of the header, in any letter case."""
    equals: HeaderValue | None = None
    """The value must be this text."""
    any_of: Annotated[tuple[HeaderValue, ...], Field(min_length=1, max_length=256)] | None = Field(
        default=None, alias="in"
    )
    """The value must be one of these."""
    matches: TopicPattern | None = None
    """The value must match this glob: `*` is one segment without a dot, `**` is any text."""
    exists: Annotated[Flag, AfterValidator(_only_true), Told("self", _ONLY_TRUE)] | None = None
    """`true`: the header must be there."""


class Filter(Block):
    """Leaves out messages by their headers. It applies to every kind of source."""

    require: Annotated[tuple[HeaderRule, ...], Field(max_length=256)] = ()
    """A message must match every one of these rules."""
    exclude: Annotated[tuple[HeaderRule, ...], Field(max_length=256)] = ()
    """A message must match none of these rules."""
