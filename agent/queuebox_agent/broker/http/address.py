"""`http.blockPrivateAddresses`: which addresses are refused, and where they are looked at (spec pages 11 and 23)."""

import asyncio
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from aiohttp import AddrInfoType
from yarl import URL

from queuebox_agent.errors import Misconfigured

LONGEST_LOOKUP = 5.0
"""Seconds of one name lookup at start. A name that takes longer is looked at when a connection is opened."""

# IPv6 addresses whose last 32 bits are an IPv4 address that answers in their place: compatible, mapped, NAT64.
_AROUND_IPV4 = (IPv6Network("::/96"), IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
_SITE_LOCAL = IPv6Network("fec0::/10")


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public Internet.

    Not public are: loopback, link-local, private, site-local, unique-local, shared (RFC 6598), unspecified, multicast
    and reserved addresses, and an IPv6 address that stands for an IPv4 address which is not public.
    """
    ip = ip_address(address.partition("%")[0])
    return all(part.is_global and not part.is_multicast and part not in _SITE_LOCAL for part in _meant(ip))


def _meant(ip: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    if isinstance(ip, IPv4Address):
        yield ip
    elif any(ip in network for network in _AROUND_IPV4):
        yield IPv4Address(ip.packed[12:])
    else:
        yield ip
        yield from (inner for inner in (ip.sixtofour, *(ip.teredo or ())) if inner)


class AddressRefused(OSError):
    """The address is private and `http.blockPrivateAddresses` is on."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address} is no public address and http.blockPrivateAddresses is on")


def public_socket(address: AddrInfoType) -> socket.socket:
    """Make the socket of a new connection, when it goes to a public address; else raise `AddressRefused`.

    The connector calls this for every connection, so a name that means another address by now is refused as well.
    """
    family, kind, protocol, _, where = address
    if not is_public(where[0]):
        raise AddressRefused(where[0])
    return socket.socket(family, kind, protocol)


async def refuse_private(called: str, url: URL) -> None:
    """Raise `Misconfigured` when the host of a URL has a private address by now. A name that is unknown passes.

    `called`: what the URL is called in the configuration.
    """
    if private := [address for address in await _addresses(url) if not is_public(address)]:
        raise Misconfigured(
            f"{called}: {url.host} is {', '.join(private)}, no public address, and http.blockPrivateAddresses is on"
        )


async def _addresses(url: URL) -> list[str]:
    try:
        async with asyncio.timeout(LONGEST_LOOKUP):
            found = await asyncio.get_running_loop().getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return sorted({str(where[0]) for *_, where in found})
