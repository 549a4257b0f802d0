"""The section `retention` (spec page 24)."""

from typing import ClassVar, Literal

from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.fields import Count, Duration, Flag


class _TableRetention(Block):
    max_age: Duration | None = None
    """Rows older than this go. Required by `AGE`."""
    max_count: Count | None = None
    """How many rows stay. Required by `COUNT`."""
    cleanup_interval: Duration = "1h"
    """The wait between two cleanup runs."""
    batch_size: Count = 1000
    """The largest number of rows that one statement deletes."""


class OutboxRetention(_TableRetention):
    """When rows in state `sent` or `dead` leave the outbox."""

    policy: Literal["AGE", "COUNT", "DISABLED"] = "DISABLED"
    """What decides. `AGE` measures from `updated_at`; `COUNT` keeps `maxCount` sent and `maxCount` dead rows."""


class InboxRetention(_TableRetention):
    """When rows in state `processed` or `dead` leave the inbox. A deleted row no longer deduplicates."""

    policy: Literal["AGE", "DISABLED"] = "DISABLED"
    """What decides. `AGE` measures from `created_at`."""


class RetentionConfig(Block):
    """Deletes old rows, never one that waits or runs."""

    rules: ClassVar[Rules] = (
        Rule(
            "!self.enabled || self.outbox.policy != 'AGE' || has(self.outbox.maxAge)",
            "is required by policy AGE",
            lambda it: not it.enabled or it.outbox.policy != "AGE" or it.outbox.max_age is not None,
            at=("outbox", "maxAge"),
        ),
        Rule(
            "!self.enabled || self.outbox.policy != 'COUNT' || has(self.outbox.maxCount)",
            "is required by policy COUNT",
            lambda it: not it.enabled or it.outbox.policy != "COUNT" or it.outbox.max_count is not None,
            at=("outbox", "maxCount"),
        ),
        Rule(
            "!self.enabled || self.inbox.policy != 'AGE' || has(self.inbox.maxAge)",
            "is required by policy AGE",
            lambda it: not it.enabled or it.inbox.policy != "AGE" or it.inbox.max_age is not None,
            at=("inbox", "maxAge"),
        ),
    )
    enabled: Flag = False
    """Run the cleanup."""
    outbox: OutboxRetention = OutboxRetention()
    """The cleanup of the outbox."""
    inbox: InboxRetention = InboxRetention()
    """The cleanup of the inbox."""
