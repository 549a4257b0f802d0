"""The processes that a benchmark measures."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import psutil

from queuebox_agent.demo.postgres import free_port
from services.waiting import until

RECEIVER = Path(__file__).with_name("receiver.py")


@asynccontextmanager
async def receiver() -> AsyncIterator[str]:
    """The URL of a receiver in a process of its own."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(RECEIVER), str(port), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def agent(database_url: str, receiver_url: str, **outbox: int) -> AsyncIterator[psutil.Process]:
    """A ready agent in a process of its own, as `queuebox run` starts it; `outbox`: keys of that section."""
    port = free_port()
    settings = {
        "DATABASE_URL": database_url, "SERVER_HTTPPORT": str(port), "DESTINATIONS_RECEIVER_TYPE": "http",
        "DESTINATIONS_RECEIVER_BASEURL": receiver_url, "DESTINATIONS_RECEIVER_PATH": "/orders",
        "ROUTES_0_TOPICPATTERN": "**", "ROUTES_0_DESTINATION": "receiver",
    }  # fmt: skip
    settings |= {f"OUTBOX_{key.upper()}": str(value) for key, value in outbox.items()}
    environ = os.environ | {f"QUEUEBOX_{name}": value for name, value in settings.items()} | {"LOG_LEVEL": "WARNING"}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "queuebox_agent", "run", env=environ)
    try:
        await until(lambda: _ready(port), 30, "the agent's readiness")
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()


async def _ready(port: int) -> bool:
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/health/ready") as answer:
            return answer.ok
    except aiohttp.ClientError:
        return False
