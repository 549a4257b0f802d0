"""The first tutorial, block by block, with the real programs. Only the ports are others, so that it runs anywhere.

Beside what a reader of any page does, here they `start NAME` in a terminal of its own, write a `file NAME`, use `psql`
if it is there, see the `output NAME` of a program, and `stop NAME` with Ctrl-C. `skip` is the block that installs: the
end-to-end tests install the built package.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from queuebox_agent.demo.postgres import free_port
from services.docs import DOCS, Block, blocks
from services.reader import Reader

PAGE = DOCS / "tutorials" / "first-message.md"
DATABASE, RECEIVER, AGENT = "5432", "8081", "8080"
CURL = f"""#!{sys.executable}
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[-1]).read().decode())
"""

pytestmark = pytest.mark.postgres


class Newcomer(Reader):
    """Somebody with terminals, in which programs run."""

    def __init__(self, folder: Path) -> None:
        commands = folder / "bin"
        commands.mkdir()
        if shutil.which("curl") is None:  # the page offers a browser instead
            (commands / "curl").write_text(CURL)
            (commands / "curl").chmod(0o755)
        path = os.pathsep.join([str(Path(sys.executable).parent), str(commands), os.environ["PATH"]])
        super().__init__(folder, {"PATH": path, "PYTHONUNBUFFERED": "1"}, look_every=0.01)
        self._ports = {port: str(free_port()) for port in (DATABASE, RECEIVER, AGENT)}
        self._programs: dict[str, subprocess.Popen[bytes]] = {}

    @override
    def follow(self, block: Block) -> None:
        super().follow(replace(block, text=self._with_free_ports(block.text)))

    def psql(self, _: str, script: str) -> None:
        if shutil.which("psql"):
            self.run("", script)

    def start(self, name: str, command: str) -> None:
        with self._log(name).open("wb") as log:
            self._programs[name] = subprocess.Popen(
                shlex.split(command), cwd=self.folder, env=self.environ, stdout=log, stderr=log
            )
        self.sees(self._log(name).read_text)

    def file(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    @override
    def output(self, name: str, text: str) -> None:
        if name:
            self.sees(self._log(name).read_text)
        super().output(name, text)

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

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Newcomer]:
    reader = Newcomer(tmp_path)
    try:
        yield reader
    finally:
        reader.stop_all()


def test_the_first_message_is_delivered(reader: Newcomer) -> None:
    for block in blocks(PAGE):
        reader.follow(block)
