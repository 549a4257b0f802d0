"""Log lines on standard error: one record, one line. LOG_FORMAT and LOG_LEVEL choose how and how much.

A line about a resource has the fields `kind`, `namespace` and `name`. Whoever begins to work on one says so once, with
`about`; the lines of everything that it calls then have the fields.
"""

import json
import logging
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime

from typing_extensions import override

from queuebox_operator.facts import Ref

SERVICE = "queuebox-operator"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# These report every request, watch and event at INFO.
CHATTY_LIBRARIES = ("aiohttp", "asyncio", "kopf")

_NOT_EXTRA = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_BREAKS_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r'[\s"=]|^$')
_USERINFO = re.compile(r"(?<=://)[^/\s@]*+@")

_about: ContextVar[Ref | None] = ContextVar("about", default=None)


def about(ref: Ref) -> None:
    """Every line that this task logs is about this object from now on, until it says otherwise."""
    _about.set(ref)


def configure(environ: Mapping[str, str]) -> None:
    """Send the log of the process to standard error, as `environ` says.

    LOG_FORMAT is `text` (default) or `json`, LOG_LEVEL one of LEVELS (default INFO). Letter case does not matter, and
    an empty value is the default. Raises ValueError for anything else, and then changes nothing.
    """
    formatter = FORMATTERS.get(chosen := (environ.get("LOG_FORMAT") or "text").lower())
    level = (environ.get("LOG_LEVEL") or "INFO").upper()
    if formatter is None:
        raise ValueError(f"LOG_FORMAT must be one of {', '.join(FORMATTERS)}, not {chosen!r}")
    if level not in LEVELS:
        raise ValueError(f"LOG_LEVEL must be one of {', '.join(LEVELS)}, not {level!r}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter())
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.captureWarnings(capture=True)
    for library in CHATTY_LIBRARIES:
        logging.getLogger(library).setLevel(level if level in {"DEBUG", "ERROR", "CRITICAL"} else "WARNING")


class JsonFormatter(logging.Formatter):
    """One JSON object a line, in ASCII."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The fixed fields win over an extra of the same name."""
        return json.dumps(_fields(record) | _head(record))


class TextFormatter(logging.Formatter):
    """For a person: time, level, logger and message, then key=value."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Control characters are escaped, so that no value can start a line or colour a terminal."""
        head = _head(record)
        fields = " ".join(f"{name}={_quoted(value)}" for name, value in _fields(record).items())
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
        "message": _clean(record.getMessage()),
    }


def _fields(record: logging.LogRecord) -> dict[str, object]:
    ref = _about.get()
    fields: dict[str, object] = ref._asdict() if ref else {}
    fields |= {name: _value(value) for name, value in vars(record).items() if name not in _NOT_EXTRA}
    if record.exc_info:
        fields["exception"] = _clean(logging.Formatter().formatException(record.exc_info))
    return fields


def _value(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float) else _clean(str(value))


def _clean(text: str) -> str:
    """No Secret's value reaches this process; a URL that somebody wrote with a password into a spec might."""
    return _USERINFO.sub("***@", text)


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if _NEEDS_QUOTES.search(text) else text
