"""The `QUEUEBOX_` variables and what they set (spec page 25)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final

from queuebox_agent.settings.keys import known_key
from queuebox_api.config import Finding
from queuebox_api.config.partial import UNREADABLE
from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section, below
from queuebox_api.names import PREFIX, Path, dotted, path_of, variable_of
from queuebox_api.spelling import closest

CONFIG_FILE: Final = "QUEUEBOX_CONFIG_FILE"
"""Names the file; it is no key itself."""

_SERVICE_LINK: Final = re.compile(
    r"QUEUEBOX_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)"
)
_SERVICE_LINK_PORT: Final = re.compile(r"QUEUEBOX_(?:[A-Z0-9_]+_)?PORT=(?:tcp|udp|sctp)://.*", re.DOTALL)


@dataclass
class Variables:
    """What the variables set, on top of a file."""

    values: dict[Path, str] = field(default_factory=dict)
    """By path. A map key that the file has too is written as the file does."""
    problems: list[str] = field(default_factory=list)
    _indexes: dict[Path, list[int]] = field(default_factory=dict)
    """The indexes that the variables use, in order, by the path of their list."""

    def over(self, tree: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
        """`tree` with the variables in it: maps merge key by key, a list that a variable touches is replaced whole.

        What the file has in the place of a map is a finding.
        """
        overlay: dict[str | int, Any] = {}
        for path, value in self.values.items():
            block = overlay
            for level in path[:-1]:
                block = block.setdefault(level, {})
            block[path[-1]] = value
        merged = _merged(tree, overlay, findings)
        return merged if isinstance(merged, dict) else tree

    def written(self, path: Path) -> Path:
        """`path` with the indexes that the variables use: `routes[1]` may have been set as number 5."""
        written: Path = ()
        for level in path:
            indexes = self._indexes.get(written, [])
            written += (indexes[level] if isinstance(level, int) and level < len(indexes) else level,)
        return written

    def replaces(self, path: Path) -> bool:
        """Whether what the file says at `path` is replaced."""
        return path in self.values or any(path[: len(of_list)] == of_list for of_list in self._indexes)

    def add(self, variable: str, path: Path, value: str) -> None:
        """Take one variable in."""
        if path in self.values:
            self.problems.append(f"{dotted(path)} ({variable}): is set by two variables that differ in letter case")
        self.values[path] = value
        for depth, level in enumerate(path):
            if isinstance(level, int):
                indexes = self._indexes.setdefault(path[:depth], [])
                indexes[:] = sorted({*indexes, level})


def settings_in(environ: Mapping[str, str], tree: Mapping[str, Any], read_elsewhere: set[str]) -> Variables:
    """The variables that set a key, and a problem for each that sets none.

    Passed over are `QUEUEBOX_CONFIG_FILE` and, unless it sets a key, what a placeholder of the file reads and what
    Kubernetes sets for a Service whose name starts with queuebox.
    """
    variables = Variables()
    for variable, value in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable == CONFIG_FILE:
            continue
        found = _target(variable, tree)
        if isinstance(found, str):
            if variable not in read_elsewhere and not _is_service_link(variable, value):
                variables.problems.append(found)
        else:
            variables.add(variable, found, value)
    return variables


def _is_service_link(variable: str, value: str) -> bool:
    """A bare `_PORT` is one only with a URL, so that a misspelt port of ours is not passed over."""
    return bool(_SERVICE_LINK.fullmatch(variable) or _SERVICE_LINK_PORT.fullmatch(f"{variable}={value}"))


def _target(variable: str, tree: Mapping[str, Any]) -> Path | str:
    """The path that the variable sets, or what is wrong with its name."""
    try:
        levels = path_of(variable)
    except ValueError as error:
        return f"{variable}: sets no key: {error}"
    node: Node = ROOT
    value: Any = tree
    path: Path = ()
    for depth, level in enumerate(levels):
        name = _level(node, level, value)
        child = None if name is None else below(node, name)
        if name is None or child is None:
            return f"{dotted(levels)} ({variable}): sets no known key{_suggestion(node, path, levels[depth:])}"
        node, path = child, (*path, name)
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(node, Leaf):
        return path
    kind = "a list: set its entries by number" if isinstance(node, Items) else "a block: set its keys"
    return f"{dotted(path)} ({variable}): is {kind}, as in {variable}_{'0' if isinstance(node, Items) else 'KEY'}"


def _level(node: Node, level: str | int, value: object) -> str | int | None:
    """`level` of a variable as the file writes it."""
    match node:
        case Section():
            return known_key(node, str(level))
        case Entries():
            names = value if isinstance(value, dict) else {}
            return next((name for name in names if name.lower() == str(level)), str(level))
        case Items():
            return level if isinstance(level, int) else None
        case Leaf():
            return None


def _suggestion(node: Node, path: Path, rest: Path) -> str:
    """Also finds a key whose words were parted by `_`."""
    if not isinstance(node, Section):
        return ""
    words = [str(level) for level in rest]
    if key := closest("".join(words), node.keys):
        return f"; did you mean {variable_of((*path, key))}?"
    if key := closest(words[0], node.keys):
        return f"; did you mean {variable_of((*path, key, *rest[1:]))}?"
    return ""


def _merged(below_it: object, overlay: object, findings: list[Finding], path: Path = ()) -> object:
    if not isinstance(overlay, dict):
        return overlay
    if any(isinstance(level, int) for level in overlay):
        indexes = enumerate(sorted(overlay))
        return [_merged(None, overlay[index], findings, (*path, place)) for place, index in indexes]
    if not isinstance(below_it, dict | NoneType) and below_it is not UNREADABLE:
        findings.append(Finding(path, "must be a block of keys"))
    kept = below_it if isinstance(below_it, dict) else {}
    return kept | {name: _merged(kept.get(name), content, findings, (*path, name)) for name, content in overlay.items()}
