"""The section `server` (spec page 24)."""

from typing import ClassVar

from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.fields import Port


class ServerConfig(Block):
    """The ports on which QueueBox answers."""

    rules: ClassVar[Rules] = (
        Rule(
            "!has(self.managementPort) || self.managementPort != self.httpPort",
            "must differ from httpPort",
            lambda it: it.management_port != it.http_port,
            at=("managementPort",),
        ),
    )
    http_port: Port = 8080
    """The data port, which serves the inbox routes."""
    management_port: Port | None = None
    """A port of its own for `/health`, `/metrics` and `/admin`. With it, the data port answers 404 on those paths."""
