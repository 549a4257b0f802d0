"""What the answer of a receiver means (spec pages 04 and 11)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 60.0
"""Seconds of a `Retry-After` that are honoured."""

_ASKS_TO_WAIT = frozenset({429, 503})


def is_success(status: int) -> bool:
    """Tell whether the receiver took the message: any 2xx, and nothing else."""
    return 200 <= status < 300  # noqa: PLR2004  the class that RFC 9110 calls successful


def status_class(status: int) -> str:
    """Return the class of a status for the metric: 1xx to 5xx, or other."""
    return f"{status // 100}xx" if 100 <= status < 600 else "other"  # noqa: PLR2004  the classes of RFC 9110


def wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a 429 or a 503 asks to wait, LONGEST_WAIT at most; None when it does not ask.

    A date is read against the receiver's own `Date`, so that a wrong clock on either side does no harm.
    """
    asked = headers.get("Retry-After", "").strip()
    if status not in _ASKS_TO_WAIT or not asked:
        return None
    if asked.isascii() and asked.isdigit():
        return min(float(asked), LONGEST_WAIT)
    until = _date(asked)
    if until is None:
        return None
    seconds = (until - (_date(headers.get("Date", "")) or datetime.now(UTC))).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
