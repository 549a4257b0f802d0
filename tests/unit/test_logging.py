import json
import logging
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from queuebox_agent.errors import Misconfigured
from queuebox_agent.telemetry.logging import CHATTY_LIBRARIES, configure

log = logging.getLogger("queuebox_agent.tests")
STANDARD_ATTRIBUTES = ("filename", "lineno", "process", "thread", "args", "msg", "levelno", "created")


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for library in CHATTY_LIBRARIES:
        logging.getLogger(library).setLevel(logging.NOTSET)


@pytest.fixture
def json_log(capsys: pytest.CaptureFixture[str]) -> "Lines":
    configure({"LOG_FORMAT": "json"})
    return Lines(capsys)


@pytest.fixture
def text_log(capsys: pytest.CaptureFixture[str]) -> "Lines":
    configure({})
    return Lines(capsys)


class Lines:
    """What reached standard error."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def text(self) -> str:
        """The only line."""
        written = self._capsys.readouterr().err
        assert written.count("\n") == 1
        assert written.endswith("\n")
        assert len(written.splitlines()) == 1
        return written.rstrip("\n")

    def object(self) -> dict[str, object]:
        parsed = json.loads(self.text())
        assert isinstance(parsed, dict)
        return parsed

    def count(self) -> int:
        return self._capsys.readouterr().err.count("\n")


def broken() -> None:
    raise ValueError("no route to amqp://user:hunter2@broker:5672/vhost")


def test_a_json_line_says_when_where_and_what(json_log: Lines) -> None:
    log.info("row %s", "dead")
    line = json_log.object()
    del line["timestamp"]
    assert line == {
        "level": "INFO",
        "logger": "queuebox_agent.tests",
        "service": "queuebox",
        "message": "row dead",
    }


def test_the_timestamp_is_utc_in_iso_8601(json_log: Lines) -> None:
    before = datetime.now(UTC)
    log.info("now")
    stamp = str(json_log.object()["timestamp"])
    assert stamp.endswith("Z")
    assert abs((datetime.fromisoformat(stamp) - before).total_seconds()) < 10


@pytest.mark.parametrize("field", ["messageId", "topic", "destination", "source", "correlationId"])
def test_a_correlation_field_is_a_field_of_the_line(json_log: Lines, field: str) -> None:
    log.info("sent", extra={field: "a value"})
    assert json_log.object()[field] == "a value"


def test_numbers_stay_numbers(json_log: Lines) -> None:
    log.info("sent", extra={"attempt": 3, "seconds": 0.5, "last": False, "key": None})
    line = json_log.object()
    assert [line[name] for name in ("attempt", "seconds", "last", "key")] == [3, 0.5, False, None]


def test_an_extra_cannot_overwrite_what_every_line_has(json_log: Lines) -> None:
    log.info("sent", extra={"level": "FAKE", "timestamp": "FAKE", "service": "FAKE", "logger": "FAKE"})
    assert "FAKE" not in json_log.text()


def test_what_python_adds_to_a_record_is_no_field(json_log: Lines) -> None:
    log.info("sent")
    assert not set(STANDARD_ATTRIBUTES) & set(json_log.object())


def test_a_text_line_reads_as_key_value(text_log: Lines) -> None:
    log.warning("message is dead", extra={"topic": "order.created", "attempt": 5, "reason": "no route matches"})
    line = text_log.text()
    assert line.endswith(
        'WARNING  queuebox_agent.tests: message is dead topic=order.created attempt=5 reason="no route matches"'
    )


def test_an_empty_value_is_visible_in_a_text_line(text_log: Lines) -> None:
    log.info("sent", extra={"topic": ""})
    assert text_log.text().endswith('topic=""')


@pytest.mark.parametrize("log_format", ["json", "text"])
@pytest.mark.parametrize("character", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_no_value_starts_a_new_line(capsys: pytest.CaptureFixture[str], log_format: str, character: str) -> None:
    configure({"LOG_FORMAT": log_format})
    log.info("one%stwo", character, extra={"topic": f"a{character}b"})
    Lines(capsys).text()


def test_no_value_colours_the_terminal(text_log: Lines) -> None:
    log.info("\x1b[31mred", extra={"topic": "\x9b31mred"})
    line = text_log.text()
    assert "\x1b" not in line
    assert "\x9b" not in line


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_text_that_is_no_valid_unicode_is_logged(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    configure({"LOG_FORMAT": log_format})
    log.info("broken \ud800", extra={"topic": "\udfff"})
    assert "ud800" in Lines(capsys).text()


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_an_exception_is_one_line_with_its_trace(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    configure({"LOG_FORMAT": log_format})
    try:
        broken()
    except ValueError:
        log.exception("it broke")
    line = Lines(capsys).text()
    assert "ValueError: no route to" in line
    assert "in broken" in line


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_no_part_of_a_line_holds_a_secret(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    configure({"LOG_FORMAT": log_format})
    try:
        broken()
    except ValueError:
        log.exception(
            "password=hunter2 %s",
            "Authorization: Bearer hunter2.hunter2",
            extra={
                "reason": '{"client_secret": "hunter2"}',
                "url": "postgresql://me:hunter2@db/x",
                "password": "hunter2",
            },
        )
    assert "hunter2" not in Lines(capsys).text()


def test_a_secret_over_several_lines_does_not_hide_what_follows(json_log: Lines) -> None:
    log.info("password: hunter2\ntopic is order.created")
    assert json_log.object()["message"] == "password: ***\ntopic is order.created"


def test_the_level_is_info_by_default(text_log: Lines) -> None:
    log.debug("not shown")
    log.info("shown")
    assert text_log.count() == 1


@pytest.mark.parametrize(
    ("level", "shown"),
    [("DEBUG", 5), ("INFO", 4), ("WARNING", 3), ("ERROR", 2), ("CRITICAL", 1), ("warning", 3), ("", 4)],
)
def test_log_level_chooses_what_is_shown(capsys: pytest.CaptureFixture[str], level: str, shown: int) -> None:
    configure({"LOG_LEVEL": level})
    for each in (log.debug, log.info, log.warning, log.error, log.critical):
        each("a record")
    assert Lines(capsys).count() == shown


@pytest.mark.parametrize("log_format", ["JSON", "json", "Json"])
def test_the_format_is_named_in_any_letter_case(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    configure({"LOG_FORMAT": log_format})
    log.info("sent")
    assert Lines(capsys).object()["message"] == "sent"


def test_every_wrong_variable_is_reported_at_once() -> None:
    with pytest.raises(Misconfigured) as raised:
        configure({"LOG_FORMAT": "xml", "LOG_LEVEL": "LOUD"})
    assert raised.value.problems == (
        "LOG_FORMAT must be one of text, json, not 'xml'",
        "LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL, not 'LOUD'",
    )


def test_configuring_twice_writes_each_record_once(text_log: Lines) -> None:
    configure({})
    log.info("sent")
    assert text_log.count() == 1


@pytest.mark.parametrize(("level", "shown"), [("INFO", 0), ("DEBUG", 1)])
def test_a_chatty_library_speaks_only_when_debugging(
    capsys: pytest.CaptureFixture[str], level: str, shown: int
) -> None:
    configure({"LOG_LEVEL": level})
    logging.getLogger("psycopg.pool").info("connection requested")
    assert Lines(capsys).count() == shown


def test_a_warning_of_python_is_a_line_of_the_log(json_log: Lines) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn("old name", DeprecationWarning, stacklevel=1)
    assert json_log.object()["logger"] == "py.warnings"
