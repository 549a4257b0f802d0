"""Somebody who follows a page of the documentation, block by block, in a folder and with programs of their own.

A comment before each block says what they do with it: `run` once, `look` (until it shows what follows), `output` of the
block before, `skip` what a test has already.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from services.docs import Block, shows
from services.waiting import until_sync

SHOWN_SECONDS = 30


class Reader:
    """Runs each script with `sh` in `folder`, with `environ` besides the variables of this process."""

    def __init__(self, folder: Path, environ: Mapping[str, str], look_every: float) -> None:
        self.folder, self.environ = folder, os.environ | environ
        self._look_every = look_every
        self._shown: Callable[[], str] = str

    def follow(self, block: Block) -> None:
        """Do what the comment before the block says."""
        action, _, name = block.name.partition(" ")
        if action != "skip":
            getattr(self, action)(name, block.text)

    def run(self, _: str, script: str) -> None:
        output = self.execute(script)
        self.sees(lambda: output)

    def look(self, _: str, script: str) -> None:
        self.sees(lambda: self.execute(script))

    def output(self, _: str, text: str) -> None:
        until_sync(lambda: shows(self._shown(), text), SHOWN_SECONDS, f"showing {text}", self._look_every)

    def sees(self, shown: Callable[[], str]) -> None:
        """What the next `output` is compared with."""
        self._shown = shown

    def execute(self, script: str) -> str:
        """What the script prints; it must succeed."""
        ended = subprocess.run(
            ["sh", "-c", script], cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout
