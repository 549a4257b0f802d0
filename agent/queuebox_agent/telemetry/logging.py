"""Log lines on standard error: one record, one line, no secret. LOG_FORMAT and LOG_LEVEL choose how and how much.

Whoever logs uses the standard module and gives facts as `extra`: `log.info("row dead", extra={"messageId": …})`. Names
by which lines are joined: messageId, topic, destination, attempt, source, correlationId. Any other name is as good.
"""

import json
import logging
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TextIO

from typing_extensions import override

from queuebox_agent.domain.redact import redact
from queuebox_agent.errors import Misconfigured

SERVICE = "queuebox"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# These report every request and every use of a connection at INFO.
CHATTY_LIBRARIES = ("aiohttp", "asyncio", "psycopg")

_NOT_EXTRA = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_BREAKS_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r'[\s"=]|^$')


def configure(environ: Mapping[str, str]) -> None:
    """Send the log of the process to standard error, as `environ` says.

    LOG_FORMAT is `text` (default) or `json`, LOG_LEVEL one of LEVELS (default INFO). Letter case does not matter, and
    an empty value is the default. Raises Misconfigured for anything else, and then changes nothing.
    """
    formatter = FORMATTERS.get(chosen := (environ.get("LOG_FORMAT") or "text").lower())
    level = (environ.get("LOG_LEVEL") or "INFO").upper()
    problems = []
    if formatter is None:
        problems.append(f"LOG_FORMAT must be one of {', '.join(FORMATTERS)}, not {chosen!r}")
    if level not in LEVELS:
        problems.append(f"LOG_LEVEL must be one of {', '.join(LEVELS)}, not {level!r}")
    if formatter is None or problems:
        raise Misconfigured(*problems)
    handler = _StandardError()
    handler.setFormatter(formatter())
    root = logging.getLogger()
    root.handlers = [other for other in root.handlers if not isinstance(other, _StandardError)] + [handler]
    root.setLevel(level)
    logging.captureWarnings(capture=True)
    for library in CHATTY_LIBRARIES:
        logging.getLogger(library).setLevel(level if level in {"DEBUG", "ERROR", "CRITICAL"} else "WARNING")


class _StandardError(logging.StreamHandler[TextIO]):
    """Known by its type, so that configuring again replaces it and leaves the handlers of others alone."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr  # which somebody may have redirected since
        super().emit(record)


class JsonFormatter(logging.Formatter):
    """One JSON object a line, in ASCII."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The fixed fields win over an extra of the same name."""
        head = _head(record)
        return json.dumps(head | _extra(record) | _exception(record) | head)


class TextFormatter(logging.Formatter):
    """For a person: time, level, logger and message, then key=value."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Control characters are escaped, so that no value can start a line or colour a terminal."""
        head = _head(record)
        fields = " ".join(f"{name}={_quoted(value)}" for name, value in (_extra(record) | _exception(record)).items())
        line = f"{head['timestamp']} {head['level']:<8} {head['logger']}: {head['message']} {fields}".rstrip()
        return _BREAKS_A_LINE.sub(lambda found: found[0].encode("unicode_escape").decode(), line)


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}


def _head(record: logging.LogRecord) -> dict[str, str]:
    when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return {
        "timestamp": when.replace("+00:00", "Z"),
        "level": record.levelname,
        "logger": record.name,
        "service": SERVICE,
        "message": redact(record.getMessage()),
    }


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {name: _clean(name, value) for name, value in vars(record).items() if name not in _NOT_EXTRA}


def _exception(record: logging.LogRecord) -> dict[str, object]:
    if not record.exc_info:
        return {}
    return {"exception": redact(logging.Formatter().formatException(record.exc_info))}


def _clean(name: str, value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    # The name goes through with the value: it may be what says that the value is a secret.
    return redact(f"{name}: {value}").removeprefix(f"{name}: ")


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if _NEEDS_QUOTES.search(text) else text
