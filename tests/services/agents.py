"""Agents as people run them: processes of their own, configured by variables."""

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import aiohttp

from queuebox_agent.demo.postgres import free_port
from services.waiting import until


class AgentProcess:
    """`queuebox run` with one destination named `receiver` that takes every topic, unless `settings` say otherwise."""

    def __init__(self, database_url: str, receiver_url: str, folder: Path, settings: Mapping[str, object]) -> None:
        self.port = free_port()
        ours = {
            "DATABASE_URL": database_url,
            "SERVER_HTTPPORT": self.port,
            "OUTBOX_RETRYBASEDELAYMS": 50,
            "OUTBOX_POLLINTERVALMS": 20,
            "DESTINATIONS_RECEIVER_TYPE": "http",
            "DESTINATIONS_RECEIVER_BASEURL": receiver_url,
            "ROUTES_0_TOPICPATTERN": "**",
            "ROUTES_0_DESTINATION": "receiver",
        }
        self._settings = {f"QUEUEBOX_{name}": str(value) for name, value in (ours | dict(settings)).items()}
        self._program: list[str] = ["-m", "queuebox_agent"]
        self._log = folder / f"agent-{self.port}.log"
        self.process: asyncio.subprocess.Process | None = None

    def with_clock_off(self, seconds: float) -> Self:
        """Its wall clock is so far from the database's."""
        self._program = [str(Path(__file__).with_name("clock_off.py")), str(seconds)]
        return self

    async def start(self, *, wait: bool = True) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("QUEUEBOX_")}
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, *self._program, "run", env=environ | self._settings, stdout=log, stderr=log
            )
        if wait:
            await until(self.ready, 30, "the agent's readiness")

    async def ready(self) -> bool:
        assert self.running, f"the agent ended: {self.log}"
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{self.port}/health/ready") as answer,
            ):
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)

    async def kill(self) -> None:
        """kill -9, and return when it is gone."""
        self.signal(signal.SIGKILL)
        await self.ended()

    async def stop(self) -> float:
        """SIGTERM; returns the seconds until it was gone."""
        began = time.monotonic()
        self.signal(signal.SIGTERM)
        await self.ended()
        return time.monotonic() - began

    async def ended(self) -> int:
        assert self.process is not None
        return await asyncio.wait_for(self.process.wait(), 60)

    async def metric(self, sample: str) -> float:
        """The value of one sample of the scrape, written as the scrape writes it; 0.0 when it is not there."""
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{self.port}/metrics") as answer:
            found = re.search(rf"^{re.escape(sample)} (\S+)$", await answer.text(), re.MULTILINE)
            return float(found[1]) if found else 0.0


@asynccontextmanager
async def agents(
    count: int, database_url: str, receiver_url: str, **settings: object
) -> AsyncIterator[list[AgentProcess]]:
    """That many ready agents on one table; they are killed at the end if they still run."""
    with TemporaryDirectory(prefix="queuebox-agents-") as folder:
        started = [AgentProcess(database_url, receiver_url, Path(folder), settings) for _ in range(count)]
        try:
            for process in started:
                await process.start()
            yield started
        finally:
            for process in started:
                if process.running:
                    await process.kill()


@asynccontextmanager
async def agent(database_url: str, receiver_url: str, **settings: object) -> AsyncIterator[AgentProcess]:
    """One ready agent."""
    async with agents(1, database_url, receiver_url, **settings) as (only,):
        yield only
