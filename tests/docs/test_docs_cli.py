"""docs/reference/cli.md says of each command what the command says of itself."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from queuebox_agent.cli import EPILOG, FAILED, MISCONFIGURED, queuebox
from services.docs import DOCS

PAGE = (DOCS / "reference" / "cli.md").read_text()
SECTIONS = dict(re.findall(r"^## (queuebox .+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    for word, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


COMMANDS = dict(commands(queuebox, "queuebox"))


def options(command: click.Command) -> dict[str, str | None]:
    """Each option with its default as the help shows it."""
    found = {}
    for parameter in command.params:
        assert isinstance(parameter, click.Option)
        shown = parameter.default if parameter.show_default else None
        value = "" if parameter.is_flag else f" {parameter.metavar or parameter.type.name.split()[0].upper()}"
        found[f"{parameter.opts[0]}{value}"] = None if shown is None else str(shown)
    return found


def documented(section: str) -> dict[str, str | None]:
    rows = re.findall(r"^\| `(--[^`]+)` \|(.*)\|$", section, re.MULTILINE)
    with_default = "| Option | Default |" in section
    cells = {option: rest.split("|")[0].strip() if with_default else None for option, rest in rows}
    return {option: default or None for option, default in cells.items()}


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    assert SECTIONS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_has_the_options_of_its_command(name: str) -> None:
    plain = {option.replace(" RANGE", ""): default for option, default in options(COMMANDS[name]).items()}
    assert documented(SECTIONS[name]) == plain


def test_the_page_has_the_exit_codes_of_the_help() -> None:
    on_page = dict(re.findall(r"^\| (\d) \| (.+?)\.? \|$", PAGE.split("\n## ")[0], re.MULTILINE))
    in_help = dict(re.findall(r"^  (\d)  (.+)$", EPILOG, re.MULTILINE))
    assert {code: text.lower() for code, text in on_page.items()} == {c: t.lower() for c, t in in_help.items()}
    assert {str(FAILED), str(MISCONFIGURED)} <= on_page.keys()


@pytest.mark.parametrize(
    ("arguments", "settings", "code"),
    [
        (["version"], {}, 0),
        (["validate"], {"URL": "postgresql://u:p@127.0.0.1:1/shop"}, 0),
        (["validate"], {"URL": "mysql://u:p@127.0.0.1:1/shop"}, 2),
        (["validate", "--confg"], {}, 2),
        (["migrate", "--status", "--sql"], {"URL": "postgresql://u:p@127.0.0.1:1/shop"}, 2),
        (["migrate"], {"URL": "postgresql://u:p@127.0.0.1:1/shop"}, 1),
        (["run"], {"URL": "postgresql://u:p@127.0.0.1:1/shop", "STARTUPTIMEOUTMS": "1"}, 1),
    ],
    ids=str,
)
def test_a_command_ends_with_the_code_of_the_page(arguments: list[str], settings: dict[str, str], code: int) -> None:
    environ = os.environ | {f"QUEUEBOX_DATABASE_{name}": value for name, value in settings.items()}
    program = [sys.executable, "-m", "queuebox_agent", *arguments]
    ended = subprocess.run(program, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
