"""What a user gets: the wheel in an environment of its own, and the demo from it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKED = ROOT / "requirements" / "demo.txt"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that holds the wheel and the `demo` extra, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("queuebox-*.whl")
    run(sys.executable, "-m", "venv", str(folder / "env"))
    programs = folder / "env" / "bin"
    run(str(programs / "pip"), "install", "--quiet", "--require-hashes", "-r", str(LOCKED))
    run(str(programs / "pip"), "install", "--quiet", "--no-deps", str(wheel))
    return programs


def run(*command: str, seconds: int = 240) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_installed_command_says_its_version(installed: Path) -> None:
    assert run(str(installed / "queuebox"), "version").startswith("queuebox ")


def test_the_installed_demo_loses_nothing_and_keeps_the_order(installed: Path) -> None:
    shown = run(str(installed / "queuebox"), "demo", "--seconds", "4")
    assert "every row arrived, and each order in order" in shown


def test_output_that_is_no_terminal_gets_plain_lines(installed: Path) -> None:
    shown = run(str(installed / "queuebox"), "demo", "--seconds", "2")
    assert "\x1b" not in shown
    assert "order violations 0" in shown
