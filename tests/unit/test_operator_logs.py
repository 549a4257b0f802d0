import asyncio
import contextvars
import json
import logging
from collections.abc import Iterator

import pytest

from queuebox_operator.facts import Ref
from queuebox_operator.telemetry.logs import CHATTY_LIBRARIES, about, configure

BOX = Ref("QueueBox", "shop", "orders")
log = logging.getLogger("queuebox_operator.tests")


def log_about(ref: Ref, message: str) -> None:
    about(ref)
    log.info(message)


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for library in CHATTY_LIBRARIES:
        logging.getLogger(library).setLevel(logging.NOTSET)


def test_a_json_line_has_the_fixed_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure({"LOG_FORMAT": "JSON"})
    log.info("applied %d", 3, extra={"verb": "apply"})
    line = json.loads(capsys.readouterr().err)
    assert line.keys() == {"timestamp", "level", "logger", "service", "message", "verb"}
    assert (line["level"], line["service"], line["message"]) == ("INFO", "queuebox-operator", "applied 3")


def test_a_line_about_a_resource_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    configure({"LOG_FORMAT": "json"})
    contextvars.copy_context().run(log_about, BOX, "reconciled")
    line = json.loads(capsys.readouterr().err)
    assert (line["kind"], line["namespace"], line["name"]) == BOX


async def test_a_line_of_another_task_does_not_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> None:
        about(BOX)

    configure({"LOG_FORMAT": "json"})
    await asyncio.create_task(work())
    log.info("idle")
    assert "namespace" not in json.loads(capsys.readouterr().err)


def test_text_is_one_line_with_the_resource(capsys: pytest.CaptureFixture[str]) -> None:
    configure({})
    contextvars.copy_context().run(log_about, BOX, "two\nlines")
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert written.endswith("queuebox_operator.tests: two\\nlines kind=QueueBox namespace=shop name=orders\n")


def test_the_credentials_of_a_url_are_masked(capsys: pytest.CaptureFixture[str]) -> None:
    configure({})
    log.warning("cannot use %s", "postgresql://app:letmein@db/shop", extra={"url": "amqp://u:p@mq"})
    written = capsys.readouterr().err
    assert "letmein" not in written
    assert "postgresql://***@db/shop url=amqp://***@mq" in written


def test_a_stack_trace_stays_on_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure({})
    log.warning("failed", exc_info=RuntimeError("broken"))
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert "RuntimeError: broken" in written


@pytest.mark.parametrize("environ", [{"LOG_FORMAT": "xml"}, {"LOG_LEVEL": "LOUD"}])
def test_an_unknown_setting_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        configure(environ)


def test_libraries_that_tell_every_request_are_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    configure({"LOG_LEVEL": "info"})
    logging.getLogger("kopf.objects").info("handling")
    assert not capsys.readouterr().err
