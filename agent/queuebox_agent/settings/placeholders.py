"""`${NAME}` and `${NAME:-fallback}` in the values of a file (spec page 24). They read the environment only."""

import re
from collections.abc import Mapping
from typing import Any, Final

from queuebox_api.config import Finding
from queuebox_api.config.partial import UNREADABLE
from queuebox_api.names import Path

_PLACEHOLDER: Final = re.compile(
    r"""\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_.]*)(?::-(?P<fallback>(?:(?!\$\{)[^}])*))?|(?P<other>[^}\s"']*))\}"""
)
_NEITHER: Final = (
    "holds a placeholder that is neither ${NAME} nor ${NAME:-fallback}; a value that holds ${ itself can come from a "
    "variable"
)
_EXPRESSION: Final = ("transform", "expression")
"""Where `${` may also begin an object of JSONata."""


class Placeholders:
    """Replaces placeholders, once: what a variable holds is not looked at again."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.names: set[str] = set()
        """Every name that a placeholder reads."""
        self.findings: list[Finding] = []

    def expanded(self, tree: Any, path: Path = ()) -> Any:  # noqa: ANN401  YAML holds anything
        """`tree` with its placeholders replaced. A value with a placeholder that has no value is a finding."""
        match tree:
            case dict():
                return {key: self.expanded(content, (*path, key)) for key, content in tree.items()}
            case list():
                return [self.expanded(item, (*path, index)) for index, item in enumerate(tree)]
            case str():
                return self._text(tree, path)
            case _:
                return tree

    def _text(self, text: str, path: Path) -> object:
        reasons = [reason for match in _PLACEHOLDER.finditer(text) if (reason := self._reason(match))]
        if not reasons and path[-2:] != _EXPRESSION and "${" in _PLACEHOLDER.sub("|", text):
            reasons = [_NEITHER]
        self.findings += [Finding(path, reason) for reason in reasons]
        return UNREADABLE if reasons else _PLACEHOLDER.sub(self._value, text)

    def _reason(self, match: re.Match[str]) -> str | None:
        """Why the placeholder has no value."""
        name = match["name"]
        if name is None:
            return _NEITHER
        self.names.add(name)
        if name not in self._environ and match["fallback"] is None:
            return f"reads {name}, which the environment does not hold; set it, or write ${{{name}:-fallback}}"
        return None

    def _value(self, match: re.Match[str]) -> str:
        """As in a shell, the fallback also stands for an empty variable."""
        return self._environ.get(match["name"]) or match["fallback"] or ""
