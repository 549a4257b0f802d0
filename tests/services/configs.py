"""Configurations for tests, and what is wrong with them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from queuebox_agent.errors import Misconfigured
from queuebox_agent.settings import load
from queuebox_api.config import Config
from queuebox_api.config.examine import examine
from queuebox_api.names import dotted

GOLDEN = Path(__file__).parent.parent / "golden"
DATABASE: dict[str, Any] = {
    "url": "jdbc:postgresql://db:5432/queuebox",
    "username": "queuebox",
    "password": "letmein",
}
DATABASE_VARIABLES: dict[str, str] = {
    "QUEUEBOX_DATABASE_URL": "jdbc:postgresql://db:5432/queuebox",
    "QUEUEBOX_DATABASE_USERNAME": "queuebox",
    "QUEUEBOX_DATABASE_PASSWORD": "letmein",
}
NO_FILE = Path("/nonexistent/queuebox.yml")


def tree(path: str = "", value: object = None, /, **sections: object) -> dict[str, Any]:
    """A valid configuration with these sections, and with `value` at the dotted `path`."""
    whole: dict[str, Any] = {"database": dict(DATABASE), **sections}
    block: Any = whole
    levels = [int(level) if level.isdigit() else level for level in path.split(".")] if path else []
    for level in levels[:-1]:
        block = block[level] if isinstance(level, int) else block.setdefault(level, {})
    if levels:
        block[levels[-1]] = value
    return whole


def config(**sections: object) -> Config:
    """The valid configuration with these sections."""
    return Config.model_validate(tree(**sections))


def wrong(configuration: Mapping[str, object]) -> dict[str, str]:
    """What `examine` finds: dotted path → text."""
    return {dotted(finding.path): finding.text for finding in examine(configuration)[1]}


def rows(name: str) -> list[tuple[str, ...]]:
    """The lines of a table in tests/golden, without the line ends."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]


def problems(environ: Mapping[str, str], path: Path = NO_FILE) -> tuple[str, ...]:
    """Every problem that `load` reports; none when it loads."""
    try:
        load(environ, path)
    except Misconfigured as error:
        return error.problems
    return ()
