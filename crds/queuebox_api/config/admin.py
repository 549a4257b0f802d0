"""The section `admin` (spec pages 23 and 24)."""

from typing import ClassVar

from queuebox_api.config.auth import RequestAuth
from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.fields import Count, Flag, Millis


class AdminConfig(Block):
    """The routes that evaluate a caller's expression and replay rows."""

    rules: ClassVar[Rules] = (
        Rule(
            "!self.enabled || has(self.auth) || self.insecure",
            "is required when admin.enabled is true; insecure: true would open the admin routes to everybody",
            lambda it: not it.enabled or it.auth is not None or it.insecure,
            at=("auth",),
        ),
    )
    enabled: Flag = False
    """Serve `/admin/transform/test` and `/admin/replay`. With `false`, the routes do not exist."""
    auth: RequestAuth | None = None
    """What a request must carry: the same kinds as in an HTTP source."""
    insecure: Flag = False
    """Serve the admin routes without `auth`. For a local test only."""
    max_transform_timeout_ms: Millis = 1000
    """The upper bound of the `timeoutMs` that a caller of `/admin/transform/test` sends."""
    max_payload_bytes: Count = 65_536
    """The largest request body, in bytes. A larger one gets 413."""
