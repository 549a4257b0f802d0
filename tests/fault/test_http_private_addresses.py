"""`http.blockPrivateAddresses` at start and at every connection (spec pages 11 and 23)."""

import socket
from typing import Any

import pytest

from contract.publisher import delivery
from queuebox_agent.errors import Misconfigured, Unavailable
from services.http_destination import publisher_to, publishing
from services.receiver import Receiver, json_answer

pytestmark = pytest.mark.fault

BLOCKED = {"blockPrivateAddresses": True}
REFUSED = r"127\.0\.0\.1 is no public address and http\.blockPrivateAddresses is on"


class Names:
    """The name service of the machine, for names that end in .test."""

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}
        self._others = socket.getaddrinfo

    def __call__(self, host: Any, port: Any, *args: Any, **keys: Any) -> Any:
        if not str(host).endswith(".test"):
            return self._others(host, port, *args, **keys)
        if host not in self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.addresses[host], port))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names)
    return names


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1"])
async def test_a_private_destination_stops_the_start(host: str) -> None:
    publisher = publisher_to(f"http://{host}:9", http=BLOCKED)
    with pytest.raises(Misconfigured, match=r"^destinations\.orders\.baseUrl: "):
        await publisher.start()


async def test_a_private_token_url_stops_the_start() -> None:
    auth = {"type": "oauth2", "clientId": "me", "clientSecret": "s", "tokenUrl": "http://127.0.0.1:9/token"}
    publisher = publisher_to("http://8.8.8.8", http=BLOCKED, auth=auth)
    with pytest.raises(Misconfigured, match=r"^destinations\.orders\.auth\.tokenUrl: "):
        await publisher.start()


async def test_private_addresses_are_allowed_by_default() -> None:
    async with Receiver() as receiver, publishing(receiver.url) as publisher:
        await publisher.publish(delivery())
        assert receiver.count == 1


async def test_a_name_that_is_unknown_at_start_and_private_later_is_refused(names: Names) -> None:
    async with Receiver() as receiver, publishing(f"http://later.test:{receiver.port}", http=BLOCKED) as publisher:
        names.addresses["later.test"] = "127.0.0.1"
        with pytest.raises(Unavailable, match=REFUSED):
            await publisher.publish(delivery())
        assert receiver.connections == 0


async def test_a_name_that_is_public_at_start_and_private_later_is_refused(names: Names) -> None:
    names.addresses["moves.test"] = "8.8.8.8"
    async with Receiver() as receiver, publishing(f"http://moves.test:{receiver.port}", http=BLOCKED) as publisher:
        names.addresses["moves.test"] = "127.0.0.1"
        with pytest.raises(Unavailable, match=REFUSED):
            await publisher.publish(delivery())
        assert receiver.connections == 0


async def test_a_token_url_that_is_private_later_is_refused(names: Names) -> None:
    async with Receiver(usual=json_answer({"access_token": "t"})) as tokens:
        auth = {"type": "oauth2", "clientId": "me", "clientSecret": "s", "tokenUrl": f"http://auth.test:{tokens.port}"}
        async with publishing("http://partner.test", http=BLOCKED, auth=auth) as publisher:
            names.addresses["auth.test"] = "127.0.0.1"
            with pytest.raises(Unavailable, match=REFUSED):
                await publisher.publish(delivery())
        assert tokens.connections == 0


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001"])
async def test_another_spelling_of_a_private_address_stops_the_start(host: str) -> None:
    with pytest.raises(Misconfigured, match=r"is 127\.0\.0\.1, no public address"):
        await publisher_to(f"http://{host}", http=BLOCKED).start()
