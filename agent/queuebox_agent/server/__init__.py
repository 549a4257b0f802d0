"""The HTTP side of an agent: the data port and the management port."""

from queuebox_agent.server.health import Health
from queuebox_agent.server.servers import Servers

__all__ = ["Health", "Servers"]
