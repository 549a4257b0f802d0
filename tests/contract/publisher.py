"""What every `Publisher` does, whatever it publishes to. A broker's own test file fills in the fixture `peer`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pytest

from queuebox_agent.errors import Rejected, Retryable, Unavailable
from queuebox_agent.ports import Delivery, Publisher
from services.rows import row
from services.waiting import until

BODIES = {
    "an object": '{"orderId": 1}',
    "numbers of any length": '{"n": 12345678901234567890123456789.000000000000000000001, "e": 1E+400}',
    "any Unicode": '{"t": "Zürich \u2028 \U0001f680 \\u0000 \\ud83d \x7f"}',
    "text that is no object": '"x"',
    "spaces and order as they are": '{ "b" : 1,\n"a":2 , "b":3 }',
    "one mebibyte": '{"t": "' + "x" * (1024 * 1024) + '"}',
}


@dataclass(frozen=True, slots=True)
class Taken:
    """One message as the destination has it."""

    body: str
    id: str
    topic: str
    attempt: str
    key: str | None


class Peer(Protocol):
    """A started publisher and power over its destination."""

    publisher: Publisher

    async def taken(self) -> Sequence[Taken]:
        """What the destination took so far, in order."""
        ...

    async def refuse(self) -> None:
        """Make the destination refuse the next message, so that a later one may succeed."""
        ...

    async def stall(self) -> None:
        """Make the destination confirm nothing of the next message."""
        ...

    async def stalls(self) -> bool:
        """Whether a message waits at the destination without a confirmation."""
        ...

    async def leave(self) -> None:
        """Take the destination away; nothing listens any more."""
        ...


def delivery(body: str = "{}", **changes: object) -> Delivery:
    return Delivery(row(**changes), body)


class PublisherContract:
    """Derive, and give a fixture `peer`."""

    @pytest.fixture
    def peer(self) -> Peer:
        """The peer of one broker."""
        raise NotImplementedError

    @pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
    async def test_the_body_arrives_as_it_is(self, peer: Peer, body: str) -> None:
        await peer.publisher.publish(delivery(body))
        assert [taken.body for taken in await peer.taken()] == [body]

    async def test_id_topic_attempt_and_key_travel_with_it(self, peer: Peer) -> None:
        sent = delivery(topic="order.paid", attempt=3, key="cust-7")
        await peer.publisher.publish(sent)
        assert await peer.taken() == [Taken("{}", str(sent.row.claim.id), "order.paid", "3", "cust-7")]

    async def test_a_row_without_a_key_sends_none(self, peer: Peer) -> None:
        await peer.publisher.publish(delivery(key=None))
        assert [taken.key for taken in await peer.taken()] == [None]

    async def test_many_at_once_all_arrive_once(self, peer: Peer) -> None:
        sent = [delivery() for _ in range(50)]
        await asyncio.gather(*(peer.publisher.publish(each) for each in sent))
        assert sorted(taken.id for taken in await peer.taken()) == sorted(str(each.row.claim.id) for each in sent)

    async def test_a_refusal_is_retryable(self, peer: Peer) -> None:
        await peer.refuse()
        with pytest.raises(Retryable):
            await peer.publisher.publish(delivery())

    async def test_after_a_refusal_the_next_one_is_taken(self, peer: Peer) -> None:
        await peer.refuse()
        with pytest.raises(Retryable):
            await peer.publisher.publish(delivery())
        await peer.publisher.publish(delivery("[1]"))
        assert [taken.body for taken in await peer.taken()][-1] == "[1]"

    async def test_a_destination_that_is_away_is_unavailable(self, peer: Peer) -> None:
        await peer.leave()
        with pytest.raises(Unavailable):
            await peer.publisher.publish(delivery())

    async def test_a_destination_that_is_away_does_not_stop_the_start(self, peer: Peer) -> None:
        await peer.publisher.close()
        await peer.leave()
        await peer.publisher.start()

    @pytest.mark.parametrize("headers", ["[]", "7", "null", '"text"'])
    async def test_headers_that_are_no_object_are_rejected(self, peer: Peer, headers: str) -> None:
        with pytest.raises(Rejected):
            await peer.publisher.publish(delivery(headers=headers))

    async def test_a_rejected_row_does_not_reach_the_destination(self, peer: Peer) -> None:
        with pytest.raises(Rejected):
            await peer.publisher.publish(delivery(headers="[]"))
        assert not await peer.taken()

    async def test_cancellation_passes_through(self, peer: Peer) -> None:
        await peer.stall()
        publish = asyncio.create_task(peer.publisher.publish(delivery()))
        await until(peer.stalls, what="a message that is not confirmed")
        publish.cancel()
        with pytest.raises(asyncio.CancelledError):
            await publish

    async def test_after_a_cancelled_publish_the_next_one_is_taken(self, peer: Peer) -> None:
        await peer.stall()
        publish = asyncio.create_task(peer.publisher.publish(delivery()))
        await until(peer.stalls, what="a message that is not confirmed")
        publish.cancel()
        await asyncio.wait([publish])
        await peer.publisher.publish(delivery("[2]"))
        assert [taken.body for taken in await peer.taken()][-1] == "[2]"

    async def test_it_closes_twice(self, peer: Peer) -> None:
        await peer.publisher.close()
        await peer.publisher.close()

    async def test_it_publishes_nothing_when_closed(self, peer: Peer) -> None:
        await peer.publisher.close()
        with pytest.raises(Unavailable):
            await peer.publisher.publish(delivery())

    async def test_it_starts_again(self, peer: Peer) -> None:
        await peer.publisher.close()
        await peer.publisher.start()
        await peer.publisher.publish(delivery())
        assert len(await peer.taken()) == 1
