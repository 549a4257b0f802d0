"""Keep-alive: connections are used again, and one that the receiver closed while it idled costs no attempt."""

import asyncio
from collections.abc import Iterator

import pytest

from contract.publisher import delivery
from queuebox_agent.broker.http import exchange
from queuebox_agent.errors import Retryable
from services.http_destination import publishing
from services.receiver import Receiver, ReceiverProcess, answer, endless, raw, receiver_process, then_close
from services.waiting import until

pytestmark = pytest.mark.fault


@pytest.fixture
def elsewhere() -> Iterator[ReceiverProcess]:
    with receiver_process() as receiver:
        yield receiver


async def test_deliveries_one_after_another_share_one_connection() -> None:
    async with Receiver() as receiver, publishing(receiver.url) as publisher:
        for _ in range(5):
            await publisher.publish(delivery())
        assert receiver.connections == 1


@pytest.mark.parametrize("body", [b"", b"{}", b"x" * 60_000], ids=len)
async def test_the_body_of_a_good_answer_does_not_cost_the_connection(body: bytes) -> None:
    head = b"HTTP/1.1 200 Ok\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with Receiver(usual=raw(head, body)) as receiver, publishing(receiver.url) as publisher:
        for _ in range(3):
            await publisher.publish(delivery())
        assert receiver.connections == 1


async def test_the_whole_body_of_a_failure_does_not_cost_the_connection() -> None:
    async with Receiver(usual=answer(500, b"short")) as receiver, publishing(receiver.url) as publisher:
        for _ in range(3):
            with pytest.raises(Retryable):
                await publisher.publish(delivery())
        assert receiver.connections == 1


async def test_a_connection_with_an_unread_body_is_closed() -> None:
    async with Receiver(usual=endless(500)) as receiver, publishing(receiver.url) as publisher:
        with pytest.raises(Retryable):
            await publisher.publish(delivery())
        await until(lambda: receiver.open_connections == 0)


async def test_as_many_connections_are_opened_as_deliveries_run() -> None:
    async with Receiver() as receiver, publishing(receiver.url) as publisher:
        await asyncio.gather(*(publisher.publish(delivery()) for _ in range(150)))
        assert (receiver.count, receiver.connections) == (150, 150)


async def test_a_receiver_that_closes_after_each_answer_costs_nothing() -> None:
    async with Receiver(usual=then_close(answer(204))) as receiver, publishing(receiver.url) as publisher:
        for _ in range(20):
            await publisher.publish(delivery())
        assert receiver.count == 20


async def test_a_connection_that_closed_while_it_idled_is_not_used() -> None:
    async with Receiver() as receiver, publishing(receiver.url) as publisher:
        await publisher.publish(delivery())
        await receiver.close_connections()
        await publisher.publish(delivery())
        assert receiver.connections == 2


async def test_a_connection_whose_end_arrives_with_the_next_delivery_costs_no_attempt(
    elsewhere: ReceiverProcess,
) -> None:
    async with publishing(elsewhere.url) as publisher:
        await publisher.publish(delivery())
        elsewhere.close_connections()  # blocks: the event loop has had no turn to see the end of the connection
        await publisher.publish(delivery())
    assert elsewhere.count() == 2


async def test_a_whole_pool_that_was_closed_costs_no_attempt(elsewhere: ReceiverProcess) -> None:
    async with publishing(elsewhere.url) as publisher:
        await asyncio.gather(*(publisher.publish(delivery()) for _ in range(32)))
        elsewhere.close_connections()
        await asyncio.gather(*(publisher.publish(delivery()) for _ in range(32)))
    assert elsewhere.count() == 64


async def test_without_the_look_at_the_connection_it_would_have_cost_one(
    elsewhere: ReceiverProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_CLOSED", 0)
    async with publishing(elsewhere.url) as publisher:
        await publisher.publish(delivery())
        elsewhere.close_connections()
        with pytest.raises(Retryable):
            await publisher.publish(delivery())


async def test_a_request_that_may_have_been_read_is_not_sent_again() -> None:
    async with Receiver() as receiver, publishing(receiver.url) as publisher:
        await publisher.publish(delivery())
        receiver.plan(then_close(raw()))
        with pytest.raises(Retryable):
            await publisher.publish(delivery())
        assert receiver.count == 2
