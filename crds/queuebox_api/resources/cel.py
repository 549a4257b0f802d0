"""Rules of the configuration, in the words of a resource: where a key stands elsewhere, its rule reads it there."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from queuebox_api.config.block import Rule
from queuebox_api.names import Path

_CHAIN: Final = re.compile(r"(?P<has>has\()?\bself\.(?P<keys>\w+(?:\.\w+)*)(?P<call>\()?")


class Place(NamedTuple):
    """Where a resource has what the configuration has at some key."""

    path: tuple[str, ...]
    guards: tuple[str, ...] = ()
    """Blocks, in CEL, that the resource may leave out: without them, every key has its default, and the rule holds."""
    default: str | None = None
    """In CEL, what holds when the key is not there and the schema has no default for it."""


Locate = Callable[[tuple[str, ...]], Place]


def told_elsewhere(block: object) -> bool:
    """Stands for the predicate of a rule that Python need not try on the resource.

    Either the configuration's own model tries it on the translated entry, or only the server knows `oldSelf`.
    """
    return block is not None


def moved(rule: Rule, locate: Locate, unless: str = "") -> Rule:
    """`rule` as the resource reads it; `unless` says, in CEL, when it is of no concern."""
    guards = [unless] if unless else []

    def moved_chain(found: re.Match[str]) -> str:
        keys = tuple(found["keys"].split("."))
        call = f".{keys[-1]}(" if found["call"] else ""
        place = locate(keys[:-1] if call else keys)
        guards.extend(guard for guard in place.guards if guard not in guards)
        chain = ".".join(("self", *place.path))
        if found["has"] or place.default is None:
            return f"{found['has'] or ''}{chain}{call}"
        return f"(has({chain}) ? {chain} : {place.default}){call}"

    cel = _CHAIN.sub(moved_chain, rule.cel)
    told = " || ".join(f"!has({guard})" if guard.startswith("self.") else guard for guard in guards)
    at = locate(tuple(map(str, rule.at))).path if rule.at else ()
    return Rule(f"{told} || ({cel})" if told else cel, rule.message, told_elsewhere, at)


def unchanged(key: str) -> Rule:
    """`key` is what the block is known by."""
    at: Path = (key,)
    return Rule(f"self.{key} == oldSelf.{key}", "cannot be changed: make another QueueBox", told_elsewhere, at)
