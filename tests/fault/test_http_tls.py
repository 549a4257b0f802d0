"""TLS: a certificate that is not trusted is refused, and a trusted one changes nothing else (spec page 23)."""

from pathlib import Path

import aiohttp.connector
import pytest

from contract.publisher import delivery
from queuebox_agent.errors import Retryable, Unavailable
from services.http_destination import publishing
from services.receiver import Receiver, raw, then_close
from services.tls import certificate, needs_openssl

pytestmark = [pytest.mark.fault, needs_openssl]


async def test_a_certificate_that_is_not_trusted_is_unavailable(tmp_path: Path) -> None:
    async with Receiver(tls=certificate(tmp_path).server) as receiver, publishing(receiver.url) as publisher:
        with pytest.raises(Unavailable, match="certificate verify failed"):
            await publisher.publish(delivery())
        assert receiver.count == 0


async def test_deliveries_over_tls_share_one_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = certificate(tmp_path)
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", made.client)
    async with Receiver(tls=made.server) as receiver, publishing(receiver.url) as publisher:
        for _ in range(5):
            await publisher.publish(delivery())
        assert (receiver.count, receiver.connections) == (5, 1)


async def test_a_connection_that_closed_while_it_idled_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = certificate(tmp_path)
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", made.client)
    async with Receiver(tls=made.server) as receiver, publishing(receiver.url) as publisher:
        await publisher.publish(delivery())
        await receiver.close_connections()
        await publisher.publish(delivery())
        receiver.plan(then_close(raw()))
        with pytest.raises(Retryable):
            await publisher.publish(delivery())


async def test_a_receiver_that_speaks_no_tls_is_unavailable() -> None:
    async with (
        Receiver(resets_at_once=True) as receiver,
        publishing(receiver.url.replace("http:", "https:")) as publisher,
    ):
        with pytest.raises(Unavailable):
            await publisher.publish(delivery())
