"""The pages of the documentation as something to run: fenced blocks, their names, and what they show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in (*DOCS.rglob("*.md"), ROOT / "README.md"))

FENCE = re.compile(r"(?P<fence>```+)\s*(?P<language>\w*)")
NAME = re.compile(r"<!-- test: (?P<name>.+?) -->")
PLACEHOLDER = re.compile(r"(?<!:):'?(?P<name>[a-z_]+)'?")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `name`: what the line `<!-- test: … -->` before it says, else empty."""

    page: str
    line: int
    name: str
    language: str
    text: str

    @override
    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path, language: str = "") -> list[Block]:
    """The blocks of a page in order, of one language if it is given."""
    found: list[Block] = []
    name, fence, opened, body = "", "", (0, ""), list[str]()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        begin = FENCE.match(line)
        if fence and line.rstrip() == fence:
            where, kind = opened
            found.append(Block(page.relative_to(ROOT).as_posix(), where, name, kind, "\n".join(body) + "\n"))
            name, fence = "", ""
        elif fence:
            body.append(line)
        elif begin:
            fence, opened, body = begin["fence"], (number, begin["language"]), []
        elif line.strip():
            named = NAME.fullmatch(line)
            name = named["name"] if named else ""
    return [block for block in found if not language or block.language == language]


def named(page: Path, name: str) -> Block:
    """The block of that name."""
    (block,) = (block for block in blocks(page) if block.name == name)
    return block


def filled(sql: str, values: Mapping[str, object]) -> str:
    """The statement with the variables of psql replaced, `:'name'` as a quoted text and `:name` as it is."""

    def value(found: re.Match[str]) -> str:
        text = str(values[found["name"]])
        return "'" + text.replace("'", "''") + "'" if "'" in found[0] else text

    return PLACEHOLDER.sub(value, sql)


def shows(output: str, shown: str) -> bool:
    """Whether every line of `shown` is in a line of the output, in this order; `…` stands for any text."""
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in shown.splitlines()]
    lines = iter(output.splitlines())
    return all(any(re.search(pattern, line) for line in lines) for pattern in patterns)
