"""Why something failed, as text that a log and the column `last_error` may hold (spec page 19, edge-cases 2.6)."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from queuebox_agent.domain.redact import redact

LONGEST = 2000
"""Characters of a reason, the mark of a cut included."""
MARK = "… (truncated)"
MOST_CAUSES = 5

# A database stores no NUL, and a terminal obeys the others.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def reason(text: str, known: Iterable[str] = ()) -> str:
    """Return the text fit to be stored and shown: secrets masked, control characters replaced, at most LONGEST long.

    `known`: secrets that are masked wherever they stand.
    """
    safe = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", redact(text.replace("\r\n", "\n"), known))
    return safe if len(safe) <= LONGEST else safe[: LONGEST - len(MARK)] + MARK


def describe(error: BaseException) -> str:
    """Return type and message of an error and of its causes, MOST_CAUSES at most. Not redacted: for `reason`."""
    return "; caused by ".join(_named(cause) for cause in islice(_causes(error), MOST_CAUSES))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _named(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
