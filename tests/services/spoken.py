"""A program of the tests that says line by line what happens to it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
LATEST_SECONDS = 60


class Program:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def says(self, word: str, seconds: float = LATEST_SECONDS) -> None:
        """Return when its next line is that word."""
        assert await self.line(seconds) == word

    async def line(self, seconds: float = LATEST_SECONDS) -> str:
        assert self.process.stdout is not None
        return (await asyncio.wait_for(self.process.stdout.readline(), seconds)).decode().strip()

    def memory(self) -> bytes:
        """All that it holds and may write to."""
        found = []
        with Path(f"/proc/{self.process.pid}/mem").open("rb", buffering=0) as memory:
            for line in Path(f"/proc/{self.process.pid}/maps").read_text().splitlines():
                (begin, end), rights = (int(it, 16) for it in line.split()[0].split("-")), line.split()[1]
                if rights.startswith("rw"):
                    memory.seek(begin)
                    found.append(memory.read(end - begin))
        return b"".join(found)


@asynccontextmanager
async def program(file: str, *arguments: str) -> AsyncIterator[Program]:
    """It runs in the context and is killed at its end."""
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, file, *arguments, env=environ, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        await process.wait()
