"""When a failed delivery is tried again (spec pages 11 and 30, edge-cases 0.1, 0.2 and 5.1)."""

import random
from collections.abc import Callable

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Dead, Retry

CEILING_MS = 60_000
LARGEST_EXPONENT = 20

Jitter = Callable[[int], int]
"""From n, a whole number from 0 to n, both included."""


def any_jitter(largest: int) -> int:
    """Spreads retries, so that rows that failed together do not come back together."""
    return random.randint(0, largest)  # noqa: S311  no secret depends on it


def delay_ms(attempt: int, base_ms: int, jitter: Jitter = any_jitter) -> int:
    """base x 2^attempt and up to a quarter more, never above 60 s. `attempt`: failures before this one."""
    backoff = base_ms << min(max(attempt, 0), LARGEST_EXPONENT)
    return min(backoff + jitter(max(backoff // 4, 1)), CEILING_MS)


def after_failure(
    row: OutboxRow, reason: str, base_ms: int, after: float | None = None, jitter: Jitter = any_jitter
) -> Retry | Dead:
    """A retry while `attempt < max_attempts` on the count before this failure, else dead.

    `after`: seconds that the destination asked to wait. It may lengthen the delay up to the ceiling, never shorten it.
    """
    if row.attempt >= row.max_attempts:
        return Dead(reason)
    delay = max(delay_ms(row.attempt, base_ms, jitter) / 1000, min(after or 0.0, CEILING_MS / 1000))
    return Retry(delay, reason)
