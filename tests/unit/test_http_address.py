import socket

import pytest
from yarl import URL

from queuebox_agent.broker.http.address import AddressRefused, is_public, public_socket, refuse_private
from queuebox_agent.errors import Misconfigured

PRIVATE = {
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    "site-local": ["fec0::1"],
    "unique-local": ["fc00::1", "fd12:3456::1"],
    "unspecified": ["0.0.0.0", "::"],
    "shared": ["100.64.0.1"],
    "multicast": ["224.0.0.1", "239.1.1.1", "ff02::1"],
    "reserved": ["240.0.0.1", "255.255.255.255"],
    "IPv4 inside IPv6": ["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001:0:a00:1::"],
}


@pytest.mark.parametrize("address", [address for kind in PRIVATE.values() for address in kind])
def test_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_that_is_public(address: str) -> None:
    assert is_public(address)


def test_no_socket_is_made_for_a_private_address() -> None:
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1 is no public address and http\.blockPrivateAddresses is on"):
        public_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80)))


def test_a_socket_is_made_for_a_public_address() -> None:
    with public_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))) as made:
        assert made.family == socket.AF_INET


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:10.0.0.1]"])
async def test_a_host_that_is_private_stops_the_start_and_is_named(host: str) -> None:
    with pytest.raises(Misconfigured, match=r"destinations\.orders\.baseUrl: .* is .*, no public address"):
        await refuse_private("destinations.orders.baseUrl", URL(f"http://{host}:8080/a"))


@pytest.mark.parametrize("host", ["8.8.8.8", "nowhere.invalid"])
async def test_a_public_host_and_an_unknown_name_pass(host: str) -> None:
    await refuse_private("destinations.orders.baseUrl", URL(f"http://{host}/a"))


async def test_a_name_passes_only_when_each_of_its_addresses_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(Misconfigured, match=r"partner\.test is 10\.0\.0\.1, no public address"):
        await refuse_private("destinations.orders.baseUrl", URL("http://partner.test/a"))
