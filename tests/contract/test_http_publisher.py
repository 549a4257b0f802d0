from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest
from typing_extensions import override

from contract.publisher import Peer, PublisherContract, Taken
from queuebox_agent.ports import Publisher
from services.http_destination import publishing
from services.receiver import Receiver, answer, hang


@dataclass(slots=True)
class HttpPeer(Peer):
    publisher: Publisher
    receiver: Receiver

    @override
    async def taken(self) -> Sequence[Taken]:
        return [
            Taken(
                body=request.body.decode(),
                id=request.header("X-Message-Id") or "",
                topic=request.header("X-Topic") or "",
                attempt=request.header("X-Attempt") or "",
                key=request.header("X-Message-Key"),
            )
            for request in self.receiver.requests
        ]

    @override
    async def refuse(self) -> None:
        self.receiver.plan(answer(503))

    @override
    async def stall(self) -> None:
        self.receiver.plan(hang)

    @override
    async def stalls(self) -> bool:
        return self.receiver.hanging == 1

    @override
    async def leave(self) -> None:
        await self.receiver.close()


class TestHttpPublisher(PublisherContract):
    @pytest.fixture
    @override
    async def peer(self) -> AsyncIterator[Peer]:
        async with Receiver() as receiver, publishing(receiver.url) as publisher:
            yield HttpPeer(publisher, receiver)
