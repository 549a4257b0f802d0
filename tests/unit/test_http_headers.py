import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.broker.http.headers import NOT_FOR_DESTINATIONS, NOT_FOR_ROWS, HeaderPlan, Headers
from queuebox_agent.errors import Misconfigured, Rejected
from services.rows import row

STANDARD = {"Content-Type": "application/json", "X-Topic": "order.created", "X-Attempt": "0"}
BROKEN_TEXT = ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "\x1b[2J", "\x7f", "\ud800"]


def headers(
    of_row: dict[str, Any] | None = None,
    own: dict[str, str] | None = None,
    auth: dict[str, str] | None = None,
    **columns: Any,
) -> Headers:
    plan = HeaderPlan("destinations.orders", own or {}, auth or {})
    return plan.of(row(headers=json.dumps(of_row or {}), **columns))


@pytest.mark.parametrize(("name", "value"), STANDARD.items())
def test_a_standard_header(name: str, value: str) -> None:
    assert headers().getall(name) == [value]


def test_the_message_id_is_the_id_of_the_row() -> None:
    sent = row()
    assert HeaderPlan("d", {}, {}).of(sent)["X-Message-Id"] == str(sent.claim.id)


def test_the_key_travels() -> None:
    assert headers(key="cust-42")["X-Message-Key"] == "cust-42"


def test_a_row_without_a_key_has_no_key_header() -> None:
    assert "X-Message-Key" not in headers(key=None)


def test_the_attempt_is_the_number_of_failed_deliveries() -> None:
    assert headers(attempt=4)["X-Attempt"] == "4"


def test_the_agent_names_itself() -> None:
    assert headers()["User-Agent"].startswith("queuebox/")


@pytest.mark.parametrize(
    ("own", "auth", "of_row", "value"),
    [
        ({"X-A": "static"}, {}, {}, "static"),
        ({"X-A": "static"}, {"X-A": "auth"}, {}, "auth"),
        ({"X-A": "static"}, {"X-A": "auth"}, {"X-A": "row"}, "row"),
        ({"X-A": "static"}, {}, {"X-A": "row"}, "row"),
        ({}, {"X-A": "auth"}, {"X-A": "row"}, "row"),
        ({"x-a": "static"}, {"X-A": "auth"}, {}, "auth"),
        ({"x-a": "static"}, {"X-a": "auth"}, {"X-A": "row"}, "row"),
        ({"X-A": "static"}, {}, {"X-A": None}, "static"),
    ],
)
def test_row_wins_over_auth_wins_over_static(
    own: dict[str, str], auth: dict[str, str], of_row: dict[str, Any], value: str
) -> None:
    assert headers(of_row, own, auth).getall("X-A") == [value]


def test_an_authorization_of_the_row_wins() -> None:
    assert headers({"authorization": "mine"}, auth={"Authorization": "Basic x"}).getall("Authorization") == ["mine"]


def test_of_two_row_headers_that_differ_in_case_the_later_is_sent() -> None:
    assert headers({"X-A": "1", "x-a": "2"}).getall("X-A") == ["2"]


@pytest.mark.parametrize("name", ["X-Message-Id", "X-Topic", "x-attempt", "X-MESSAGE-KEY"])
@pytest.mark.parametrize("layer", ["own", "auth", "of_row"])
def test_a_header_named_like_a_standard_one_is_sent_in_addition(name: str, layer: str) -> None:
    before = headers(key="k").getall(name)
    sent = headers(key="k", **{layer: {name: "other"}})
    assert sent.getall(name)[0] != "other"
    assert sent.getall(name)[1:] == ["other"]
    assert len(sent.getall(name)) == len(before) + 1


def test_another_content_type_is_sent_in_addition() -> None:
    sent = headers({"content-type": "application/cloudevents+json"})
    assert sent.getall("Content-Type") == ["application/json", "application/cloudevents+json"]


@pytest.mark.parametrize("value", ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=x"])
@pytest.mark.parametrize("layer", ["own", "of_row"])
def test_a_content_type_that_says_json_again_is_not(value: str, layer: str) -> None:
    assert headers(**{layer: {"content-type": value}}).getall("Content-Type") == ["application/json"]


@pytest.mark.parametrize("name", sorted(NOT_FOR_ROWS))
def test_a_header_of_the_connection_or_the_framing_is_not_taken_from_a_row(name: str) -> None:
    assert headers({name.title(): "1", "X-A": "a"}).getall(name, []) == headers().getall(name, [])


@pytest.mark.parametrize("name", sorted(NOT_FOR_DESTINATIONS))
def test_a_static_header_of_the_framing_stops_the_start(name: str) -> None:
    with pytest.raises(Misconfigured, match=rf"destinations\.orders: the header '{name}' belongs to the connection"):
        headers(own={name: "1"})


def test_a_destination_may_set_its_host() -> None:
    assert headers(own={"Host": "virtual.example"})["Host"] == "virtual.example"


@pytest.mark.parametrize("value", BROKEN_TEXT)
def test_a_value_that_http_cannot_carry_is_rejected_and_only_its_name_is_told(value: str) -> None:
    with pytest.raises(Rejected) as rejected:
        headers({"X-Signed": f"s3cr3t{value}"})
    assert (
        str(rejected.value)
        == "the header 'X-Signed' of the row holds a control character, which no HTTP header carries"
    )


@pytest.mark.parametrize("name", ["", "X A", "X:A", "X\r\nA", "X\0", "Zürich", "X(A)", '"x"', "x" * 200 + " "])
def test_a_name_that_is_none_in_http_is_rejected_and_told_in_bounds(name: str) -> None:
    with pytest.raises(Rejected, match="of the row has a name that is none in HTTP") as rejected:
        headers({name: "1"})
    assert str(rejected.value).isprintable()
    assert len(str(rejected.value)) < 200


@pytest.mark.parametrize("column", ["topic", "key"])
@pytest.mark.parametrize("value", BROKEN_TEXT)
def test_a_topic_or_a_key_that_http_cannot_carry_is_rejected(column: str, value: str) -> None:
    sent = row(**{column: value})
    with pytest.raises(Rejected, match="the topic or the key of the row holds a control character"):
        HeaderPlan("destinations.orders", {}, {}).of(sent)


@pytest.mark.parametrize("own", [{"X-A": "a\x1b"}, {"X-A": "a\nb"}])
def test_a_static_value_that_http_cannot_carry_stops_the_start(own: dict[str, str]) -> None:
    with pytest.raises(Misconfigured, match=r"destinations\.orders: the header 'X-A' holds a control character"):
        headers(own=own)


@pytest.mark.parametrize("value", ["Zürich", "\U0001f680", "a\tb", "\x85", ""])
def test_what_http_can_carry_is_kept(value: str) -> None:
    assert headers({"X-A": value}, topic=f"t{value}")["X-A"] == value


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8) | st.integers() | st.none() | st.lists(st.none())))
def test_any_row_is_either_rejected_or_sent_without_a_control_character(of_row: dict[str, Any]) -> None:
    try:
        sent = headers(of_row)
    except Rejected:
        return
    assert all(character >= " " or character == "\t" for value in sent.values() for character in value)
