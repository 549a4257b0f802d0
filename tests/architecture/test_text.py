"""The project speaks of itself alone, and of no machine."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Written in pieces, so that this file does not find itself.
FORBIDDEN = {
    "a path of one machine": r"(^|[^\w.])/(w[o]rk|r[o]ot|h[o]me)/[a-z.]",
    "the address of a package index": r"p[y]pi\.org|pythonh[o]sted|/sim[p]le/",
    "an issue number": r"\b[Ii]ssue #?[0-9]+\b",
}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    found = [
        path.relative_to(ROOT).as_posix() for path in tracked() if pattern.search(path.read_text(errors="replace"))
    ]
    assert not found
