"""The section `outbox` (spec page 24)."""

from queuebox_api.config.block import Block
from queuebox_api.config.capture import CaptureConfig
from queuebox_api.config.fields import Count, Millis


class OutboxConfig(Block):
    """How rows leave the outbox."""

    poll_interval_ms: Millis = 100
    """The wait between two claim cycles that found nothing."""
    batch_size: Count = 100
    """The largest number of rows that one claim takes."""
    concurrency: Count = 8
    """The largest number of rows that are published at the same time."""
    retry_base_delay_ms: Millis = 1000
    """The base of the retry delay: times two to the power of `attempt`, plus up to 25 percent, at most 60 seconds."""
    max_attempts: Count = 5
    """The dead-letter ceiling of the rows that QueueBox itself creates. Other rows bring their own `max_attempts`."""
    claim_timeout_ms: Millis = 300_000
    """How long a claim lasts before its row returns to pending. Set it above the slowest publish."""
    pending_gauge_interval_ms: Millis = 5000
    """The shortest interval between two counts of the pending rows."""
    shutdown_timeout_ms: Millis = 30_000
    """The longest wait, at shutdown, for the publishes in flight."""
    capture: CaptureConfig = CaptureConfig()
    """Change data capture."""
