"""The first tutorial, block by block, with the real programs. Only the ports are others, so that it runs anywhere.

A comment before each block says what a reader does with it: `start NAME` in a terminal of its own, `file NAME`, `run`
once, `look` (until it shows what follows), `psql` if it is there, `output` of the block before or of NAME, `stop NAME`
with Ctrl-C. `skip` is the block that installs: the end-to-end tests install the built package.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from queuebox_agent.demo.postgres import free_port
from services.docs import DOCS, Block, blocks, shows
from services.waiting import until_sync

PAGE = DOCS / "tutorials" / "first-message.md"
DATABASE, RECEIVER, AGENT = "5432", "8081", "8080"
CURL = f"""#!{sys.executable}
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[-1]).read().decode())
"""

pytestmark = pytest.mark.postgres


class Reader:
    """Somebody who follows the page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = {port: str(free_port()) for port in (DATABASE, RECEIVER, AGENT)}
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._shown: Callable[[], str] = str
        commands = folder / "bin"
        commands.mkdir()
        if shutil.which("curl") is None:  # the page offers a browser instead
            (commands / "curl").write_text(CURL)
            (commands / "curl").chmod(0o755)
        path = os.pathsep.join([str(Path(sys.executable).parent), str(commands), os.environ["PATH"]])
        self._environ = os.environ | {"PATH": path, "PYTHONUNBUFFERED": "1"}

    def follow(self, block: Block) -> None:
        """Do what the comment before the block says."""
        action, _, name = block.name.partition(" ")
        if action == "psql":
            action = "run" if shutil.which("psql") else "skip"
        if action != "skip":
            getattr(self, action)(name, self._with_free_ports(block.text))

    def start(self, name: str, command: str) -> None:
        with self._log(name).open("wb") as log:
            self._programs[name] = subprocess.Popen(
                shlex.split(command), cwd=self._folder, env=self._environ, stdout=log, stderr=log
            )
        self._shown = self._log(name).read_text

    def file(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text)

    def run(self, _: str, script: str) -> None:
        output = self._run(script)
        self._shown = lambda: output

    def look(self, _: str, script: str) -> None:
        self._shown = lambda: self._run(script)

    def output(self, name: str, text: str) -> None:
        shown = self._log(name).read_text if name else self._shown
        until_sync(lambda: shows(shown(), text), 30, f"showing {text}")

    def stop(self, name: str, text: str = "") -> None:
        program = self._programs.pop(name)
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 0
        self.output(name, text)

    def stop_all(self) -> None:
        try:
            for name in [*self._programs]:
                self.stop(name)
        finally:
            for program in self._programs.values():
                program.kill()

    def _with_free_ports(self, text: str) -> str:
        for server, port in (("postgres", DATABASE), ("receiver", RECEIVER)):
            text = re.sub(rf"^queuebox try {server}$", rf"\g<0> --port {port}", text, flags=re.MULTILINE)
        return re.sub("|".join(self._ports), lambda port: self._ports[port[0]], text)

    def _run(self, script: str) -> str:
        ended = subprocess.run(
            ["sh", "-c", script], cwd=self._folder, env=self._environ, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    try:
        yield reader
    finally:
        reader.stop_all()


def test_the_first_message_is_delivered(reader: Reader) -> None:
    for block in blocks(PAGE):
        reader.follow(block)
