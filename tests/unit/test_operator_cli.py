"""docs/reference/operator-cli.md says of each command what the command says of itself."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from queuebox_operator.cli import EPILOG, operator
from services.docs import DOCS

PAGE = (DOCS / "reference" / "operator-cli.md").read_text()
SECTIONS = dict(re.findall(r"^## queuebox-operator (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
NO_CLUSTER = {"KUBECONFIG": "/nonexistent/kubeconfig", "HOME": "/nonexistent"}


def ended(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "queuebox_operator", *arguments]
    return subprocess.run(
        program, env=os.environ | NO_CLUSTER | environ, capture_output=True, text=True, check=False, timeout=60
    )


def options(command: click.Command) -> dict[str, str]:
    """Each option with its default as the help shows it."""
    found = {}
    for parameter in command.params:
        assert isinstance(parameter, click.Option)
        default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
        kind = parameter.type.name.split()[0].upper()
        shown = default if isinstance(default, str | int) else ""
        found[f"{parameter.opts[0]} {kind}"] = str(shown)
    return found


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    assert SECTIONS.keys() == operator.commands.keys()


@pytest.mark.parametrize("name", operator.commands)
def test_a_section_has_the_options_of_its_command(name: str) -> None:
    rows = re.findall(r"^\| `(--[^`]+)` \| ([^|]*?) ?\|", SECTIONS[name], re.MULTILINE)
    assert dict(rows) == options(operator.commands[name])


def test_the_page_has_the_exit_codes_of_the_help() -> None:
    on_page = dict(re.findall(r"^\| (\d) \| (.+?)\.? \|$", PAGE, re.MULTILINE))
    in_help = dict(re.findall(r"^  (\d)  (.+)$", EPILOG, re.MULTILINE))
    assert {code: text.lower() for code, text in on_page.items()} == {code: t.lower() for code, t in in_help.items()}


def test_the_help_names_the_variable_of_each_option() -> None:
    shown = ended("run", "--help").stdout
    names = [parameter.opts[0] for parameter in operator.commands["run"].params]
    variables = ["QUEUEBOX_OPERATOR_" + name.removeprefix("--").replace("-", "_").upper() for name in names]
    assert [name for name in variables if name not in shown] == []


def test_the_version_is_printed() -> None:
    assert ended("version").stdout.startswith("queuebox 0.")


@pytest.mark.parametrize(
    ("arguments", "environ", "said"),
    [
        (("run",), {}, "--agent-image"),
        (("run", "--agent-image=a", "--port=0"), {}, "--port"),
        (("run", "--agent-image=a"), {"LOG_FORMAT": "xml"}, "LOG_FORMAT must be one of"),
        (("run",), {"QUEUEBOX_OPERATOR_AGENT_IMAGE": "a"}, "cannot be read"),
        (("run", "--agent-image=a", "--namespace=Not A Name"), {}, "namespace"),
    ],
    ids=str,
)
def test_what_a_person_must_change_ends_it_with_two(
    arguments: tuple[str, ...], environ: dict[str, str], said: str
) -> None:
    over = ended(*arguments, **environ)
    assert over.returncode == 2, over.stderr
    assert said in over.stderr
    assert "Traceback" not in over.stderr


def test_a_certificate_that_is_not_there_ends_it_with_two(tmp_path: Path) -> None:
    over = ended("run", "--agent-image=a", f"--webhook-cert-dir={tmp_path}")
    assert over.returncode == 2, over.stderr
