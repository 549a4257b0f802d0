"""`file:` and a path in the place of a secret, or of what may stand beside one (spec page 23)."""

import pathlib
from typing import Any, Final

from queuebox_api.config import Finding
from queuebox_api.config.partial import UNREADABLE
from queuebox_api.config.structure import ROOT, Leaf, Node, below
from queuebox_api.names import Path

PREFIX: Final = "file:"
LARGEST_SECRET: Final = 65_536
"""Bytes."""


def with_files_read(tree: Any, findings: list[Finding], node: Node | None = ROOT, path: Path = ()) -> Any:  # noqa: ANN401  YAML holds anything
    """`tree` with each `file:` reference replaced by what the file holds, without line ends at its end.

    A file that cannot be read is a finding that names the file and says nothing of its content.
    """
    match node, tree:
        case None, _:
            return tree
        case Leaf(file=True), str() if tree.startswith(PREFIX):
            content, problem = _content(tree.removeprefix(PREFIX))
            if problem:
                findings.append(Finding(path, problem))
            return UNREADABLE if problem else content
        case _, dict():
            return {
                key: with_files_read(content, findings, below(node, key), (*path, key)) for key, content in tree.items()
            }
        case _, list():
            return [with_files_read(item, findings, below(node, i), (*path, i)) for i, item in enumerate(tree)]
        case _:
            return tree


def _content(name: str) -> tuple[str, str]:
    """The text and no problem, or no text and a problem: an exception would carry the bytes of the file with it."""
    try:
        with pathlib.Path(name).open("rb") as file:
            content = file.read(LARGEST_SECRET + 1)
        if len(content) > LARGEST_SECRET:
            return "", f"the file {name} is larger than {LARGEST_SECRET} bytes"
        return content.decode().rstrip("\r\n"), ""
    except OSError as error:
        return "", f"the file {name} cannot be read: {error.strerror}"
    except ValueError:
        return "", f"the file {name!a} is not UTF-8 text, or has no possible name"
