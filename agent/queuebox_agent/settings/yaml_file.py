"""A YAML file as plain data: bounded in size, also after its aliases, and strict about keys that are set twice.

No error quotes the file, because what it quotes could be a secret.
"""

import re
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

from queuebox_agent.errors import Misconfigured

LARGEST_FILE: Final = 1_048_576
"""Bytes."""
MOST_NODES: Final = 100_000
"""Values, with each alias counted as what it stands for."""
_DECIMAL: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")


def read_yaml(path: Path) -> Any:  # noqa: ANN401  YAML holds anything
    """What the file holds. Raises Misconfigured, with line and column, when it cannot be read."""
    content = _bytes(path)
    if isinstance(content, str):
        raise Misconfigured(f"{path}: {content}")
    tree, problem = _parsed(content)
    if problem:
        raise Misconfigured(f"{path}: {problem}")
    return tree


def _bytes(path: Path) -> bytes | str:
    """The content, or why there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return content if len(content) <= LARGEST_FILE else f"is larger than {LARGEST_FILE} bytes"


def _parsed(content: bytes) -> tuple[Any, str]:
    """The data and no problem, or no data and a problem: an exception would carry the text of the file with it."""
    try:
        return yaml.load(content.decode("utf-8-sig"), _Loader), ""  # noqa: S506  a subclass of the safe loader
    except UnicodeDecodeError:
        return None, "is not UTF-8 text"
    except RecursionError:
        return None, "is nested too deeply"
    except _RefusedError as error:
        return None, error.reason
    except yaml.MarkedYAMLError as error:
        return None, f"is not valid YAML{_at(error.problem_mark or error.context_mark)}"
    except (yaml.YAMLError, ValueError):
        return None, "is not valid YAML: it holds a character or a value that YAML does not have"


def _at(mark: yaml.Mark | None) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


class _RefusedError(Exception):
    """Valid YAML that is not taken."""

    def __init__(self, reason: str, mark: yaml.Mark) -> None:
        super().__init__()
        self.reason = f"{reason}{_at(mark)}"


def _whole_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    """YAML 1.1 reads 010 as 8 and 1:30 as 90, which nobody means."""
    if not _DECIMAL.fullmatch(node.value):
        raise _RefusedError("holds a number that is not plainly decimal (a text belongs in quotes)", node.start_mark)
    return loader.construct_yaml_int(node)


class _Loader(yaml.SafeLoader):
    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._nodes = 0
        self._sizes: dict[yaml.Node, int] = {}

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        is_alias, before = self.check_event(yaml.AliasEvent), self._nodes
        node = super().compose_node(parent, index)
        if node is None:
            return None
        if is_alias and node not in self._sizes:
            raise _RefusedError("holds an alias inside of what it stands for", node.start_mark)
        self._nodes += self._sizes[node] if is_alias else 1
        self._sizes.setdefault(node, self._nodes - before)
        if self._nodes > MOST_NODES:
            raise _RefusedError(f"holds more than {MOST_NODES} values", node.start_mark)
        return node

    @override
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        mapping = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in mapping.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag == "tag:yaml.org,2002:merge":
                raise _RefusedError("merges a block with <<, which YAML 1.2 does not have,", key.start_mark)
            if first := lines.get((key.tag, key.value)):
                raise _RefusedError(f"sets a key twice in one block, first in line {first} and again", key.start_mark)
            lines[key.tag, key.value] = key.start_mark.line + 1
        return mapping


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
