from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from queuebox_agent.broker.http.answer import is_success, status_class, wait


@pytest.mark.parametrize("status", [200, 201, 202, 204, 226, 299])
def test_any_2xx_is_a_success(status: int) -> None:
    assert is_success(status)


@pytest.mark.parametrize("status", [101, 199, 300, 301, 304, 400, 401, 404, 429, 500, 503, 600])
def test_nothing_else_is_a_success(status: int) -> None:
    assert not is_success(status)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(101, "1xx"), (200, "2xx"), (299, "2xx"), (302, "3xx"), (404, "4xx"), (599, "5xx"), (600, "other"), (99, "other")],
)
def test_a_status_has_a_class(status: int, kind: str) -> None:
    assert status_class(status) == kind


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("asked", "seconds"), [("0", 0.0), ("7", 7.0), (" 7 ", 7.0), ("60", 60.0)])
def test_seconds_are_honoured(status: int, asked: str, seconds: float) -> None:
    assert wait(status, {"Retry-After": asked}) == seconds


@pytest.mark.parametrize("asked", ["61", "86400", "9" * 400])
def test_more_than_60_seconds_are_60(asked: str) -> None:
    assert wait(503, {"Retry-After": asked}) == 60.0


@pytest.mark.parametrize("asked", ["", "soon", "-5", "1.5", "٣", "Wed, 99 Foo 2026", "Fri, 31 Dec 99999 23:59:59 GMT"])
def test_what_is_neither_seconds_nor_a_date_asks_nothing(asked: str) -> None:
    assert wait(503, {"Retry-After": asked}) is None


def test_no_header_asks_nothing() -> None:
    assert wait(503, {}) is None


@pytest.mark.parametrize("status", [200, 400, 404, 500, 502])
def test_only_429_and_503_ask(status: int) -> None:
    assert wait(status, {"Retry-After": "7"}) is None


def test_a_date_is_honoured() -> None:
    asked = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < (wait(429, {"Retry-After": asked}) or 0) <= 30


def test_a_date_is_read_on_the_clock_of_the_receiver() -> None:
    headers = {"Date": "Wed, 01 Jan 2020 00:00:00 GMT", "Retry-After": "Wed, 01 Jan 2020 00:00:10 GMT"}
    assert wait(503, headers) == 10.0


def test_a_date_that_is_over_asks_for_no_wait() -> None:
    assert wait(503, {"Retry-After": "Wed, 01 Jan 2020 00:00:00 GMT"}) == 0.0
