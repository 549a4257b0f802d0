"""What no text of a configuration may hold, wherever it comes from."""

from typing import Any

from queuebox_api.config import Finding
from queuebox_api.config.partial import UNREADABLE
from queuebox_api.names import Path


def with_sound_text(tree: Any, findings: list[Finding], path: Path = ()) -> Any:  # noqa: ANN401  YAML holds anything
    """`tree` without the texts that hold a NUL, at which the database's library would cut, or are no UTF-8."""
    match tree:
        case dict():
            return {key: with_sound_text(content, findings, (*path, key)) for key, content in tree.items()}
        case list():
            return [with_sound_text(item, findings, (*path, index)) for index, item in enumerate(tree)]
        case str() if problem := _problem(tree):
            findings.append(Finding(path, problem))
            return UNREADABLE
        case _:
            return tree


def _problem(text: str) -> str:
    if "\0" in text:
        return "must not hold a NUL"
    # Bytes of a variable that are no UTF-8 arrive as surrogates.
    return "must be UTF-8 text" if any("\ud800" <= letter <= "\udfff" for letter in text) else ""
