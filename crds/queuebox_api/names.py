"""The path of a key in queuebox.yml and the environment variable that sets it (spec page 25). Pure."""

import re
from typing import Final

PREFIX: Final = "QUEUEBOX_"

Path = tuple[str | int, ...]
"""A key of queuebox.yml: one text per level, one number per list index. `()` is the whole file."""

_LEVEL: Final = re.compile(r"(?:__|[^_])+")
_REACHABLE: Final = re.compile(r"[A-Za-z0-9.-][A-Za-z0-9_.-]*")
_PLAIN: Final = re.compile(r"[\w-]+")


def path_of(variable: str) -> Path:
    """The path that a variable sets: lower case, `__` for a `_`, any other `_` one level down, a number for an index.

    Raises ValueError for a name that no path has: without the prefix, or with an empty level.
    """
    levels = variable.removeprefix(PREFIX)
    if levels == variable:
        raise ValueError(f"a variable starts with {PREFIX}")
    path = tuple(_level(match[0]) for match in _LEVEL.finditer(levels))
    if variable_of(path) != variable.upper():
        raise ValueError("a level of the name is empty or holds what no key can hold")
    return path


def variable_of(path: Path) -> str | None:
    """The variable that sets `path`; None when no variable can, for example because a level starts with `_`."""
    levels = [str(level) for level in path]
    if not levels or not all(_REACHABLE.fullmatch(level) for level in levels):
        return None
    return PREFIX + "_".join(level.replace("_", "__") for level in levels).upper()


def dotted(path: Path) -> str:
    """`path` for a person: `routes[0].topicPattern`. A level that would be unclear stands in quotes.

    Of a level like `password:letmein`, where a blank is missing, only what stands before the value is shown.
    """
    text = ""
    for level in path:
        if isinstance(level, int):
            text += f"[{level}]"
        elif _PLAIN.fullmatch(level):
            text += f".{level}" if text else level
        else:
            text += f"[{_without_value(level)!a}]"
    return text or "the file"


def _without_value(level: str) -> str:
    return re.split(r"(?<=[:=])", level, maxsplit=1)[0]


def _level(text: str) -> str | int:
    level = text.replace("__", "_").lower()
    return int(level) if re.fullmatch(r"0|[1-9][0-9]{0,8}", level) else level
