"""The keys of a file as page 24 writes them, whatever their letter case, `-` and `_`."""

from typing import Any

from queuebox_api.config import Finding
from queuebox_api.config.partial import UNREADABLE
from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section, below
from queuebox_api.names import Path
from queuebox_api.spelling import fold


def known_key(section: Section, name: str) -> str | None:
    """The key of `section` that `name` means."""
    return next((key for key in section.keys if fold(key) == fold(name)), None)


def canonical(tree: Any, findings: list[Finding], node: Node = ROOT, path: Path = ()) -> Any:  # noqa: ANN401  YAML holds anything
    """`tree` with the known keys in camelCase. Names that the user chose, and unknown keys, stay as they are.

    A block, a map or a list without content is an empty one; a single value without content is a finding.
    """
    match node, tree:
        case ((Section() | Entries()), dict()):
            return _block(tree, findings, node, path)
        case Items(of), list():
            return [canonical(item, findings, of, (*path, index)) for index, item in enumerate(tree)]
        case ((Section() | Entries()), None):
            return {}
        case Items(), None:
            return []
        case Leaf(), None:
            findings.append(Finding(path, "has no value: give it one, or leave the key out"))
            return UNREADABLE
        case _:
            return tree


def _block(tree: dict[Any, Any], findings: list[Finding], node: Section | Entries, path: Path) -> dict[str, Any]:
    block: dict[str, Any] = {}
    for key, content in tree.items():
        name = (known_key(node, key) or key) if isinstance(node, Section) and isinstance(key, str) else key
        if not isinstance(name, str):
            findings.append(Finding((*path, str(name)), "is no text: put the name in quotes"))
        elif name in block:
            findings.append(Finding((*path, name), "is set twice, in two spellings"))
        else:
            child = below(node, name)
            block[name] = canonical(content, findings, child, (*path, name)) if child else content
    return block
