"""What each answer of a receiver means (spec pages 04, 11 and 29; edge-cases 2.6)."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from contract.publisher import delivery
from queuebox_agent.broker.http.publisher import HttpPublisher
from queuebox_agent.errors import Rejected, Retryable
from queuebox_agent.telemetry.metrics import Metrics
from services.http_destination import publishing
from services.receiver import Receiver, answer, endless, raw


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as receiver:
        yield receiver


@pytest.fixture
async def publisher(receiver: Receiver) -> AsyncIterator[HttpPublisher]:
    async with publishing(receiver.url, path="/events") as publisher:
        yield publisher


async def failure(publisher: HttpPublisher) -> Retryable:
    with pytest.raises(Retryable) as raised:
        await publisher.publish(delivery())
    return raised.value


async def test_a_message_is_one_post_to_base_url_and_path(publisher: HttpPublisher, receiver: Receiver) -> None:
    await publisher.publish(delivery())
    assert [(request.method, request.target) for request in receiver.requests] == [("POST", "/events")]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206, 299])
async def test_any_2xx_takes_the_message(publisher: HttpPublisher, receiver: Receiver, status: int) -> None:
    receiver.plan(answer(status))
    await publisher.publish(delivery())
    assert receiver.count == 1


@pytest.mark.parametrize("status", [300, 302, 304, 400, 401, 404, 409, 422, 429, 500, 502, 503, 599, 799])
async def test_any_other_status_fails(publisher: HttpPublisher, receiver: Receiver, status: int) -> None:
    receiver.plan(answer(status, phrase="Not Now"))
    assert str(await failure(publisher)) == f"HTTP {status} Not Now"
    assert receiver.count == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(publisher: HttpPublisher, receiver: Receiver, status: int) -> None:
    async with Receiver() as other:
        receiver.plan(answer(status, headers={"Location": f"{other.url}/elsewhere"}))
        assert str(await failure(publisher)).startswith(f"HTTP {status}")
        assert (receiver.count, other.count) == (1, 0)


async def test_interim_answers_are_passed_over(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(
        raw(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n", b"HTTP/1.1 204 Ok\r\n\r\n")
    )
    await publisher.publish(delivery())
    assert receiver.count == 1


async def test_the_body_of_a_failure_is_told(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(503, b"try later", phrase="Service Unavailable"))
    assert str(await failure(publisher)) == "HTTP 503 Service Unavailable: try later"


async def test_secrets_in_the_body_are_masked(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(500, b'{"password":"hunter2","at":"https://u:hunter2@host/"}', phrase="Oh"))
    assert str(await failure(publisher)) == 'HTTP 500 Oh: {"password":"***","at":"https://***@host/"}'


async def test_secrets_in_the_phrase_are_masked(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(500, phrase="password=hunter2"))
    assert str(await failure(publisher)) == "HTTP 500 password=***"


async def test_a_body_that_is_no_utf_8_is_told_as_far_as_it_goes(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(500, b"caf\xe9\x00!", phrase="Oh"))
    assert str(await failure(publisher)) == "HTTP 500 Oh: caf\ufffd\ufffd!"


@pytest.mark.parametrize("most", [1, 10, 1000])
async def test_the_body_of_a_failure_is_cut_at_its_bound(receiver: Receiver, most: int) -> None:
    receiver.plan(answer(500, b"x" * 5000, phrase="Oh"))
    async with publishing(receiver.url, http={"maxErrorBodyBytes": most}) as publisher:
        assert str(await failure(publisher)) == f"HTTP 500 Oh: {'x' * most}"


async def test_the_bound_of_the_body_is_2048_bytes(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(500, b"\xff" * 1000 + b"x" * 1048 + b"y" * 10, phrase="Oh"))
    assert "y" not in str(await failure(publisher))


async def test_a_reason_has_2000_characters_at_most(receiver: Receiver) -> None:
    receiver.plan(endless(500))
    async with publishing(receiver.url, http={"maxErrorBodyBytes": 100_000}) as publisher:
        reason = str(await failure(publisher))
    assert len(reason) == 2000
    assert reason.endswith("… (truncated)")


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_honoured(publisher: HttpPublisher, receiver: Receiver, status: int) -> None:
    receiver.plan(answer(status, headers={"Retry-After": "7"}))
    assert (await failure(publisher)).after == 7.0


@pytest.mark.parametrize(
    ("status", "headers"), [(503, {}), (500, {"Retry-After": "7"}), (503, {"Retry-After": "later"})]
)
async def test_an_answer_that_does_not_ask_to_wait(
    publisher: HttpPublisher, receiver: Receiver, status: int, headers: dict[str, str]
) -> None:
    receiver.plan(answer(status, headers=headers))
    assert (await failure(publisher)).after is None


async def test_cookies_are_not_kept(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(204, headers={"Set-Cookie": "sid=1"}))
    await publisher.publish(delivery())
    await publisher.publish(delivery())
    assert receiver.last.header("Cookie") is None


async def test_a_large_header_of_an_answer_does_no_harm(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(answer(200, headers={"X-Large": "x" * 40_000}))
    await publisher.publish(delivery())
    assert receiver.count == 1


async def test_no_compressed_answer_is_asked_for(publisher: HttpPublisher, receiver: Receiver) -> None:
    await publisher.publish(delivery())
    assert receiver.last.header("Accept-Encoding") == "identity"


async def test_headers_travel_as_utf_8(publisher: HttpPublisher, receiver: Receiver) -> None:
    await publisher.publish(delivery(topic="straße", headers='{"X-A": "\U0001f680"}'))
    assert (receiver.last.header("X-Topic"), receiver.last.header("X-A")) == ("straße", "\U0001f680")


async def test_a_row_header_cannot_break_the_framing(publisher: HttpPublisher, receiver: Receiver) -> None:
    hostile = '{"Content-Length": "1", "Transfer-Encoding": "chunked", "Host": "evil", "Expect": "100-continue"}'
    await publisher.publish(delivery('{"a": 1}', headers=hostile))
    assert receiver.last.body == b'{"a": 1}'
    assert receiver.last.header("Content-Length") == "8"
    assert receiver.last.header("Host") == receiver.url.removeprefix("http://")
    assert not receiver.last.all("Transfer-Encoding") + receiver.last.all("Expect")


async def test_a_header_with_a_line_break_is_rejected_and_sends_nothing(
    publisher: HttpPublisher, receiver: Receiver
) -> None:
    with pytest.raises(Rejected, match="the header 'X-A' of the row"):
        await publisher.publish(delivery(headers='{"X-A": "a\\r\\nX-Evil: 1"}'))
    assert receiver.connections == 0


async def test_a_body_with_half_a_surrogate_pair_is_rejected(publisher: HttpPublisher) -> None:
    with pytest.raises(Rejected, match="surrogate"):
        await publisher.publish(delivery('"\ud800"'))


async def test_answers_are_counted_by_class(receiver: Receiver) -> None:
    metrics = Metrics("test")
    receiver.plan(answer(200), answer(302), answer(404), answer(500), answer(799), answer(204))
    async with publishing(receiver.url, metrics=metrics) as publisher:
        while receiver.planned:
            with suppress(Retryable):
                await publisher.publish(delivery())
    counted = re.findall(
        r'queuebox_http_publish_responses_total\{status_class="(\w+)"\} (\S+)', metrics.exposition().decode()
    )
    assert dict(counted) == {"2xx": "2.0", "3xx": "1.0", "4xx": "1.0", "5xx": "1.0", "other": "1.0"}
