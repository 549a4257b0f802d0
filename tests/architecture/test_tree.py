"""The tree keeps the shape that docs/architecture.md describes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("crds", "agent", "operator", "tests", "e2e", "scripts")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
PRODUCT = [path for path in SOURCES if path.relative_to(ROOT).parts[0] in {"crds", "agent", "operator"}]
LONGEST_FILE, LONGEST_FUNCTION = 300, 50

SUPERVISORS = {
    "agent/queuebox_agent/loops/forever.py": 1,
    "agent/queuebox_agent/loops/halves.py": 1,
    "agent/queuebox_agent/loops/outbox.py": 2,
    "agent/queuebox_agent/loops/settler.py": 1,
    "operator/queuebox_operator/engine/queue.py": 1,
}
"""Where anything at all may be caught, because work must go on: file and how often."""


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("room", ["operator", "agent", "crds"])
def test_a_top_level_room_is_no_package(room: str) -> None:
    assert not (ROOT / room / "__init__.py").exists()


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_a_file_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_functions_are_short(path: Path) -> None:
    long = {
        f.name: f.end_lineno - f.lineno + 1
        for f in functions(path)
        if f.end_lineno and f.end_lineno - f.lineno >= LONGEST_FUNCTION
    }
    assert not long


@pytest.mark.parametrize("path", PRODUCT, ids=named)
def test_only_supervisors_catch_everything(path: Path) -> None:
    broad = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
    ]
    assert len(broad) == SUPERVISORS.get(named(path), 0)


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.is_relative_to(ROOT / "tests") or p.is_relative_to(ROOT / "e2e")], ids=named
)
def test_tests_do_not_sleep(path: Path) -> None:
    assert not re.search(r"\b(time|asyncio)\.sleep\(", path.read_text().replace(r"\b(time|asyncio)\.sleep\(", ""))


@pytest.mark.parametrize("path", PRODUCT, ids=named)
def test_names_say_something(path: Path) -> None:
    a_kind_of_kubernetes = path.parent.name == "render"
    assert path.stem not in {"utils", "helpers", "common", "manager", "service", "misc"} or a_kind_of_kubernetes
