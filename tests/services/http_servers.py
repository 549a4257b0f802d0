"""The HTTP servers of the agent on free ports, and a client for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession

from queuebox_agent.demo.postgres import free_port
from queuebox_agent.server.health import Health
from queuebox_agent.server.servers import Servers
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import Config

MAX_BODY = 100


def server_config(http_port: int, management_port: int | None = None) -> Config:
    return Config.model_validate(
        {
            "database": {"url": "jdbc:postgresql://localhost/none", "username": "u", "password": "p"},
            "server": {"httpPort": http_port, "managementPort": management_port},
            "inbox": {"maxBodyBytes": MAX_BODY},
        }
    )


class Running:
    """Started servers; `data` and `management` are their addresses, the same where there is one port."""

    def __init__(self, servers: Servers, client: ClientSession, data: str, management: str) -> None:
        self.servers = servers
        self.client = client
        self.data = data
        self.management = management

    async def get(self, url: str) -> tuple[int, str]:
        """Status and body."""
        async with self.client.get(url) as answered:
            return answered.status, await answered.text()


@asynccontextmanager
async def running(health: Health | None = None, *, management: bool) -> AsyncIterator[Running]:
    http_port = free_port()
    management_port = free_port() if management else None
    servers = Servers(server_config(http_port, management_port), health or Health(), Metrics("1.2.3"))
    try:
        await servers.start()
        async with ClientSession() as client:
            addresses = (f"http://127.0.0.1:{port}" for port in (http_port, management_port or http_port))
            yield Running(servers, client, *addresses)
    finally:
        await servers.stop()
