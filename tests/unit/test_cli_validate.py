"""`queuebox validate` finds what `queuebox run` would find, and prints nothing that a terminal obeys."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.configs import DATABASE_VARIABLES, NO_FILE


def validated(environ: dict[str, str], path: Path = NO_FILE) -> tuple[int, list[str]]:
    """The exit code, and the lines of what it found or of what is wrong."""
    file = [] if path is NO_FILE else ["--config", str(path)]
    program = [sys.executable, "-m", "queuebox_agent", "validate", *file]
    ended = subprocess.run(program, env=os.environ | environ, capture_output=True, text=True, check=False)
    return ended.returncode, (ended.stderr if ended.returncode else ended.stdout).splitlines()


def test_a_parameter_of_the_url_that_is_not_known_is_a_problem_of_the_url() -> None:
    code, found = validated(DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_URL": "jdbc:postgresql://db/x?sslMode=require"})
    assert (code, found) == (
        2,
        ["error: database.url (QUEUEBOX_DATABASE_URL): the parameter sslMode is not known; did you mean sslmode?"],
    )


def test_what_is_wrong_with_the_url_is_told_beside_the_rest() -> None:
    wrong = {"QUEUEBOX_DATABASE_URL": "postgresql://db/x?connect_timeout=soon", "QUEUEBOX_DATABASE_POOLSIZE": "0"}
    code, found = validated(DATABASE_VARIABLES | wrong)
    assert (code, found) == (
        2,
        [
            "error: database.poolSize (QUEUEBOX_DATABASE_POOLSIZE): must be at least 1",
            "error: database.url (QUEUEBOX_DATABASE_URL): connect_timeout must be a whole number",
        ],
    )


def test_a_url_that_is_missing_is_one_problem() -> None:
    code, found = validated({"QUEUEBOX_DATABASE_USERNAME": "u", "QUEUEBOX_DATABASE_PASSWORD": "p"})
    assert (code, found) == (2, ["error: database.url (QUEUEBOX_DATABASE_URL): is required"])


def test_a_url_that_is_wrong_as_a_whole_is_one_problem() -> None:
    code, found = validated(
        DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_URL": "mysql://db/x", "QUEUEBOX_DATABASE_POOLSIZE": "0"}
    )
    assert [problem.partition(" (")[0] for problem in found] == ["error: database.poolSize", "error: database.url"]
    assert code == 2


def test_a_pattern_is_printed_without_what_a_terminal_obeys(tmp_path: Path) -> None:
    path = tmp_path / "queuebox.yml"
    path.write_text(
        r"""
database: {url: postgresql://db/x, username: u, password: p}
destinations: {web: {baseUrl: https://x}}
routes: [{topicPattern: "a\e[2Jb\nc ä", destination: web}]
"""
    )
    assert validated({}, path)[1][1:] == [r"  routes[0]  a\x1b[2Jb\nc ä  ->  web"]


def test_a_file_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "none.yml"
    assert validated({}, path) == (2, [f"error: {path}: cannot be read: No such file or directory"])


@pytest.mark.parametrize("number", [0, 2])
def test_routes_are_counted(number: int) -> None:
    variables = {"QUEUEBOX_DESTINATIONS_WEB_BASEURL": "https://x"}
    for place in range(number):
        variables |= {
            f"QUEUEBOX_ROUTES_{place}_TOPICPATTERN": "**",
            f"QUEUEBOX_ROUTES_{place}_DESTINATION": "web",
        }
    found = f"the configuration is valid: 1 destination, {number} routes"
    assert validated(DATABASE_VARIABLES | variables)[1][0] == found
