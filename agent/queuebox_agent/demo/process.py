import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from queuebox_agent.demo.postgres import free_port
from queuebox_agent.errors import QueueBoxError

READY_SECONDS = 30.0
LOOK_SECONDS = 0.05


@asynccontextmanager
async def agent_process(database_url: str, receiver_url: str, folder: Path) -> AsyncIterator[None]:
    """A ready agent as `queuebox run` starts it, from variables alone. Its log goes into `folder`.

    Raises QueueBoxError with the end of the log when it does not become ready.
    """
    port = free_port()
    settings = {
        "DATABASE_URL": database_url,
        "SERVER_HTTPPORT": str(port),
        "OUTBOX_CONCURRENCY": "16",
        "OUTBOX_RETRYBASEDELAYMS": "100",
        "DESTINATIONS_RECEIVER_TYPE": "http",
        "DESTINATIONS_RECEIVER_BASEURL": receiver_url,
        "DESTINATIONS_RECEIVER_PATH": "/orders",
        "ROUTES_0_TOPICPATTERN": "order.*",
        "ROUTES_0_DESTINATION": "receiver",
    }
    environ = {name: value for name, value in os.environ.items() if not name.startswith("QUEUEBOX_")}
    environ |= {f"QUEUEBOX_{name}": value for name, value in settings.items()}
    log = folder / "agent.log"
    with log.open("wb") as output:
        agent = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "queuebox_agent", "run", env=environ, stdout=output, stderr=output
        )
    try:
        if not await _is_ready(agent, f"http://127.0.0.1:{port}/health/ready"):
            text = await asyncio.to_thread(log.read_text, errors="replace")
            raise QueueBoxError(f"the agent did not become ready:\n{text[-2000:]}")
        yield
    finally:
        if agent.returncode is None:
            agent.terminate()
        await agent.wait()


async def _is_ready(agent: asyncio.subprocess.Process, url: str) -> bool:
    clock = asyncio.get_running_loop().time
    deadline = clock() + READY_SECONDS
    async with aiohttp.ClientSession() as session:
        while clock() < deadline and agent.returncode is None:
            try:
                async with session.get(url) as answer:
                    if answer.ok:
                        return True
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(LOOK_SECONDS)
    return False
