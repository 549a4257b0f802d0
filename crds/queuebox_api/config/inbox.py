"""The section `inbox` (spec page 24)."""

from queuebox_api.config.block import Block
from queuebox_api.config.fields import Count, Flag, Millis, UrlPath


class RelayConfig(Block):
    """The relay copies each push row of the inbox into the outbox."""

    enabled: Flag = True
    """Run the relay. With `false`, a push row stays in the inbox."""
    poll_interval_ms: Millis = 100
    """The wait between two relay cycles."""
    batch_size: Count = 100
    """The largest number of rows of one relay claim."""
    claim_timeout_ms: Millis = 300_000
    """How long a relay claim lasts before its row returns to pending."""
    pending_gauge_interval_ms: Millis = 5000
    """The shortest interval between two queries for the oldest pending inbox row."""
    max_attempts: Count | None = None
    """The dead-letter ceiling of the outbox rows that the relay creates. Default: `outbox.maxAttempts`."""


class InboxConfig(Block):
    """How messages come into the inbox."""

    base_path: UrlPath = "/inbox"
    """What the path of every HTTP source starts with: `path: /stripe` answers at `/inbox/stripe`."""
    max_body_bytes: Count = 1_048_576
    """The largest request body on the data port, in bytes. A larger one gets 413."""
    relay: RelayConfig = RelayConfig()
    """From the inbox to the outbox."""
