"""A receiver that breaks: what it costs, what is told, and that the next delivery works (edge-cases 2.6)."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from contract.publisher import delivery
from queuebox_agent.broker.http.publisher import HttpPublisher
from queuebox_agent.errors import QueueBoxError, Retryable, Unavailable
from services.http_destination import publishing
from services.receiver import Receiver, answer, endless, hang, raw, reset, stalling, then_close
from services.waiting import until

pytestmark = pytest.mark.fault

FAULTS: dict[str, tuple[Any, str]] = {
    "hangs": (hang, "no answer within 400 ms"),
    "resets after the request": (reset, "ClientOSError: [Errno 104] Connection reset by peer"),
    "closes after the request": (then_close(raw()), "ServerDisconnectedError: Server disconnected"),
    "closes within the head": (then_close(raw(b"HTTP/1.1 20")), "ServerDisconnectedError"),
    "speaks no HTTP": (then_close(raw(b"220 mail.example ESMTP\r\n\r\n")), "ClientResponseError"),
    "sends interim answers for ever": (raw(*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 50), "no answer within 400 ms"),
    "sends an endless error body": (endless(500), "HTTP 500 Said: xxxxxxxx"),
    "stalls within an error body": (stalling(500, b"half of it"), "HTTP 500 Said: half of it"),
    "stalls before an error body": (stalling(500), "HTTP 500 Said"),
    "cuts an error body": (
        then_close(raw(b"HTTP/1.1 500 Said\r\nContent-Length: 99\r\n\r\ncut here")),
        "HTTP 500 Said: cut here",
    ),
    "sends a broken chunk in an error body": (
        then_close(raw(b"HTTP/1.1 500 Said\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n")),
        "ClientResponseError",
    ),
}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as receiver:
        yield receiver


@pytest.fixture
async def publisher(receiver: Receiver) -> AsyncIterator[HttpPublisher]:
    async with publishing(receiver.url, timeoutMs=400) as publisher:
        yield publisher


async def failure(publisher: HttpPublisher, family: type[QueueBoxError]) -> str:
    with pytest.raises(family) as raised:
        await publisher.publish(delivery())
    return str(raised.value)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_retryable_and_told(publisher: HttpPublisher, receiver: Receiver, fault: str) -> None:
    behaviour, text = FAULTS[fault]
    receiver.plan(behaviour)
    assert (await failure(publisher, Retryable)).startswith(text)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_over_within_the_timeout(publisher: HttpPublisher, receiver: Receiver, fault: str) -> None:
    receiver.plan(FAULTS[fault][0])
    started = time.monotonic()
    await failure(publisher, Retryable)
    assert time.monotonic() - started < 2.0


@pytest.mark.parametrize("fault", FAULTS)
async def test_after_a_fault_the_next_delivery_works(publisher: HttpPublisher, receiver: Receiver, fault: str) -> None:
    receiver.plan(FAULTS[fault][0])
    await failure(publisher, Retryable)
    await publisher.publish(delivery("[1]"))
    assert receiver.last.body == b"[1]"


async def test_the_request_of_a_fault_is_sent_once(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(reset)
    await failure(publisher, Retryable)
    assert receiver.count == 1


async def test_a_connection_that_is_reset_at_once_was_never_a_delivery(
    publisher: HttpPublisher, receiver: Receiver
) -> None:
    receiver.resets_at_once = True
    await failure(publisher, QueueBoxError)
    assert receiver.count == 0


async def test_nobody_listens(publisher: HttpPublisher, receiver: Receiver) -> None:
    await receiver.close()
    assert "Cannot connect to host 127.0.0.1" in await failure(publisher, Unavailable)


async def test_a_name_that_does_not_resolve() -> None:
    async with publishing("http://nowhere.invalid", timeoutMs=8000) as publisher:
        assert "nowhere.invalid" in await failure(publisher, Unavailable)


async def test_a_connection_that_is_not_accepted_in_half_of_the_timeout() -> None:
    # TEST-NET-1 (RFC 5737): either nothing answers or the system says at once that there is no way.
    async with publishing("http://192.0.2.1:81", timeoutMs=400) as publisher:
        started = time.monotonic()
        told = await failure(publisher, Unavailable)
    assert "no connection to 192.0.2.1:81 within 200 ms" in told or "Cannot connect to host 192.0.2.1:81" in told
    assert time.monotonic() - started < 0.39


@pytest.mark.parametrize("behaviour", [endless(200), stalling(200, b"x")], ids=["endless", "stalling"])
async def test_a_2xx_counts_whatever_becomes_of_its_body(
    publisher: HttpPublisher, receiver: Receiver, behaviour: Any
) -> None:
    receiver.plan(behaviour)
    started = time.monotonic()
    await publisher.publish(delivery())
    assert time.monotonic() - started < 5.0


async def test_a_2xx_whose_body_is_cut_counts(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(then_close(raw(b"HTTP/1.1 200 Ok\r\nContent-Length: 99\r\n\r\ncut")))
    await publisher.publish(delivery())
    assert receiver.count == 1


async def test_a_cancelled_delivery_leaves_no_half_used_connection(
    publisher: HttpPublisher, receiver: Receiver
) -> None:
    receiver.plan(hang)
    publish = asyncio.create_task(publisher.publish(delivery()))
    await until(lambda: receiver.hanging == 1)
    publish.cancel()
    await asyncio.wait([publish])
    assert publish.cancelled()
    receiver.closing.set()
    await publisher.publish(delivery("[2]"))
    assert (receiver.last.body, receiver.last.connection) == (b"[2]", 2)


async def test_a_delivery_that_is_cancelled_while_an_error_body_comes(
    publisher: HttpPublisher, receiver: Receiver
) -> None:
    receiver.plan(stalling(500, b"half"))
    publish = asyncio.create_task(publisher.publish(delivery()))
    await until(lambda: receiver.hanging == 1)
    publish.cancel()
    await asyncio.wait([publish])
    assert publish.cancelled()


async def test_closing_ends_deliveries_in_flight(publisher: HttpPublisher, receiver: Receiver) -> None:
    receiver.plan(hang)
    publish = asyncio.create_task(publisher.publish(delivery()))
    await until(lambda: receiver.hanging == 1)
    await publisher.close()
    with pytest.raises(Retryable):
        await publish


async def test_a_body_of_many_mebibytes_to_a_receiver_that_answers_early(
    publisher: HttpPublisher, receiver: Receiver
) -> None:
    receiver.plan(answer(413, b"too large"))
    with pytest.raises(Retryable, match="HTTP 413"):
        await publisher.publish(delivery('"' + "x" * 8_000_000 + '"'))
