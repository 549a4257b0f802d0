"""Operators as they run in a cluster: processes of their own, on the API server that a kubeconfig names."""

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import psutil

from queuebox_agent.demo.postgres import free_port
from services.waiting import until

IMAGE = "queuebox.local/queuebox:test"


class OperatorProcess:
    """`queuebox-operator run`; `options` are more of its options, as on its command line."""

    def __init__(self, kubeconfig: Path, folder: Path, *options: str) -> None:
        self.port = free_port()
        self._kubeconfig, self._options = kubeconfig, options
        self._log = folder / f"operator-{self.port}.log"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self, *, wait: bool = True) -> None:
        """Return when its cache is filled, unless told otherwise."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("QUEUEBOX_")}
        environ |= {"KUBECONFIG": str(self._kubeconfig), "LOG_FORMAT": "json"}
        command = ["-m", "queuebox_operator", "run", f"--agent-image={IMAGE}", f"--port={self.port}", *self._options]
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, *command, env=environ, stdout=log, stderr=log
            )
        if wait:
            await until(self.ready, 30, "the operator's readiness")

    async def ready(self) -> bool:
        assert self.running, f"the operator ended: {self.log}"
        return (await self._get("/readyz"))[0] == 200

    async def leads(self) -> bool:
        return await self.metric("queuebox_operator_leader") == 1

    async def live(self) -> bool:
        return (await self._get("/livez"))[0] == 200

    async def writes(self) -> float:
        """Write requests to the API server so far, of all kinds."""
        found = re.findall(r"^queuebox_operator_api_writes_total\{.*\} (\S+)$", await self.scrape(), re.MULTILINE)
        return sum(map(float, found))

    async def metric(self, sample: str) -> float:
        """The value of one sample, written as the scrape writes it; 0.0 when it is not there."""
        found = re.search(rf"^{re.escape(sample)} (\S+)$", await self.scrape(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    async def scrape(self) -> str:
        return (await self._get("/metrics"))[1]

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def resident_mib(self) -> float:
        assert self.process is not None
        return float(psutil.Process(self.process.pid).memory_info().rss) / (1 << 20)

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

    async def ended(self, seconds: float = 60) -> int:
        """Its exit code."""
        assert self.process is not None
        return await asyncio.wait_for(self.process.wait(), seconds)

    async def _get(self, path: str) -> tuple[int, str]:
        try:
            timeout = aiohttp.ClientTimeout(total=2)
            async with (
                aiohttp.ClientSession(timeout=timeout) as http,
                http.get(f"http://127.0.0.1:{self.port}{path}") as answer,
            ):
                return answer.status, await answer.text()
        except (aiohttp.ClientError, TimeoutError):
            return 0, ""


@asynccontextmanager
async def operators(kubeconfig: Path, *options: str, count: int = 1) -> AsyncIterator[list[OperatorProcess]]:
    """That many operators with full caches; they are killed at the end if they still run."""
    with TemporaryDirectory(prefix="queuebox-operators-") as folder:
        started = [OperatorProcess(kubeconfig, Path(folder), *options) for _ in range(count)]
        try:
            for process in started:
                await process.start()
            yield started
        finally:
            for process in started:
                if process.running:
                    process.signal(signal.SIGCONT)
                    await process.kill()


@asynccontextmanager
async def operator(kubeconfig: Path, *options: str) -> AsyncIterator[OperatorProcess]:
    """One operator that leads."""
    async with operators(kubeconfig, *options) as (only,):
        await until(only.leads, 20, "a leader")
        yield only
