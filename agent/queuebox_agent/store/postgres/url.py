"""`database.url` in its two forms, as libpq parameters. Pure: nothing is looked up and nothing is opened."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar
from urllib.parse import parse_qsl

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from queuebox_agent.errors import Misconfigured
from queuebox_api.config.kinds import listed
from queuebox_api.spelling import closest

Converted = TypeVar("Converted")

WHERE = "database.url (QUEUEBOX_DATABASE_URL)"
JDBC = "jdbc:"
LIBPQ = tuple(option.keyword.decode() for option in pq.Conninfo.get_defaults())
CHOICES = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "target_session_attrs": ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
    "channel_binding": ("disable", "prefer", "require"),
    "gssencmode": ("disable", "prefer", "require"),
    "load_balance_hosts": ("disable", "random"),
    "sslnegotiation": ("postgres", "direct"),
    "sslcertmode": ("disable", "allow", "require"),
}
NUMBERS = {
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
}
NUMBER = re.compile(r"-?[0-9]{1,9}")
PORT = re.compile(r"[0-9]{0,5}")
LAST_PORT = 65_535
SERVER_TYPES = {
    "any": "any",
    "primary": "primary",
    "master": "primary",
    "preferPrimary": "primary",
    "secondary": "standby",
    "slave": "standby",
    "preferSecondary": "prefer-standby",
    "preferSlave": "prefer-standby",
}
FLAGS = {"": True, "true": True, "false": False}
# What `ssl=true` means to a JDBC driver with each of its own socket factories.
FACTORIES = {"": "verify-full", "LibPQFactory": "verify-full", "NonValidatingFactory": "require"}

TRANSLATED: Mapping[str, tuple[str, Callable[[str], str]]] = {
    # Of two that set the same libpq parameter the upper one wins, and libpq's own name over both.
    "ApplicationName": ("application_name", str),
    "connectTimeout": ("connect_timeout", lambda seconds: str(int(seconds))),
    "loginTimeout": ("connect_timeout", lambda seconds: str(int(seconds))),
    "socketTimeout": ("tcp_user_timeout", lambda seconds: str(1000 * int(seconds))),
    "tcpKeepAlive": ("keepalives", lambda flag: "1" if FLAGS[flag] else "0"),
    "targetServerType": ("target_session_attrs", SERVER_TYPES.__getitem__),
    "loadBalanceHosts": ("load_balance_hosts", lambda flag: "random" if FLAGS[flag] else "disable"),
    "sslNegotiation": ("sslnegotiation", str),
    "channelBinding": ("channel_binding", str),
    "requireAuth": ("require_auth", str),
    "gssEncMode": ("gssencmode", str),
    "kerberosServerName": ("krbsrvname", str),
}
COMBINED = frozenset({"currentSchema", "ssl", "sslfactory"})
# Tuning of a JDBC driver: it has no counterpart here, and to ignore it changes nothing that a person can see.
IGNORED = frozenset(
    """
    adaptiveFetch adaptiveFetchMaximum adaptiveFetchMinimum allowEncodingChanges assumeMinServerVersion autosave
    binaryTransfer binaryTransferDisable binaryTransferEnable cancelSignalTimeout cleanupSavepoints
    databaseMetadataCacheFields databaseMetadataCacheFieldsMiB defaultRowFetchSize disableColumnSanitiser
    escapeSyntaxCallMode groupStartupParameters gssResponseTimeout hideUnprivilegedObjects hostRecheckSeconds
    logServerErrorDetail logUnclosedConnections loggerFile loggerLevel maxResultBuffer maxSendBufferSize preferQueryMode
    prepareThreshold preparedStatementCacheQueries preparedStatementCacheSizeMiB protocolVersion
    quoteReturningIdentifiers reWriteBatchedInserts readOnly readOnlyMode receiveBufferSize sendBufferSize
    sslResponseTimeout stringtype tcpNoDelay unknownLength
    """.split()  # noqa: SIM905  as a list it would take forty lines
)
KNOWN = {*LIBPQ, *TRANSLATED, *COMBINED, *IGNORED}
# Whatever spells password, and a user name in front of the host.
MAY_HOLD_PASSWORD = re.compile(r"@|pas|\bp\w*d=", re.IGNORECASE)


def libpq_parameters(url: str) -> dict[str, str]:
    """What the URL says, under libpq's names. No default is added except the host of the JDBC form, `localhost`.

    Takes what DatabaseConfig takes: `jdbc:postgresql://h1:p1,h2:p2/db?…` and libpq's `postgresql://…`. Raises
    Misconfigured, which shows no value and no name that could be a part of a password.
    """
    address, _, query = url.partition("?")
    jdbc = address.startswith(JDBC)
    # In a JDBC query a plus sign is a space; in libpq's it is itself.
    given = dict(parse_qsl(query if jdbc else query.replace("+", "%2B"), keep_blank_values=True))
    if unknown := list(_unknown(given, url)):
        raise Misconfigured(*unknown)
    found = _address(address.removeprefix(JDBC)) | _translated(given, jdbc=jdbc)
    if jdbc:
        found.setdefault("host", "localhost")
    _check_values(found)
    return found


def _address(address: str) -> dict[str, str]:
    try:
        return {name: str(value) for name, value in conninfo_to_dict(address).items()}
    except psycopg.ProgrammingError:
        raise Misconfigured(
            f"{WHERE}: cannot be read: after // come host:port pairs, separated by commas, then / and the database; "
            "what is special in them is percent-encoded"
        ) from None


def _unknown(given: Mapping[str, str], url: str) -> Iterator[str]:
    """A problem for each parameter that is not known. Behind a raw & in a password, its name is a part of that."""
    for number, name in enumerate(given, 1):
        if name in KNOWN:
            continue
        near = closest(name, sorted(KNOWN))
        shown = f"number {number}" if MAY_HOLD_PASSWORD.search(url) else name
        yield f"{WHERE}: the parameter {shown} is not known{f'; did you mean {near}?' if near else ''}"


def _translated(given: Mapping[str, str], *, jdbc: bool) -> dict[str, str]:
    found = {name: value for name, value in given.items() if name in LIBPQ}
    for name, (target, convert) in TRANSLATED.items():
        if name in given and target not in found:
            found[target] = _converted(name, given[name], convert)
    if _converted("ssl", given.get("ssl", "false"), FLAGS.__getitem__):
        factory = _converted("sslfactory", given.get("sslfactory", ""), lambda name: FACTORIES[name.rpartition(".")[2]])
        found.setdefault("sslmode", factory if jdbc else "require")
    if schemas := given.get("currentSchema"):
        escaped = schemas.replace("\\", "\\\\").replace(" ", "\\ ")
        found["options"] = f"{found.get('options', '')} -c search_path={escaped}".strip()
    return found


def _converted(name: str, value: str, convert: Callable[[str], Converted]) -> Converted:
    try:
        return convert(value)
    except (KeyError, ValueError):
        raise Misconfigured(f"{WHERE}: {name} has a value that cannot be used") from None


def _check_values(found: Mapping[str, str]) -> None:
    """Raise Misconfigured for what libpq would refuse at every try to connect."""
    problems = [
        f"{WHERE}: {name} must be {listed(choices)}"
        for name, choices in CHOICES.items()
        if name in found and found[name] not in choices
    ]
    problems += [
        f"{WHERE}: {name} must be a whole number"
        for name in sorted(NUMBERS & found.keys())
        if not NUMBER.fullmatch(found[name])
    ]
    if "@" in found.get("host", ""):
        problems.append(f"{WHERE}: a host holds an @: percent-encode what is special in the user name and the password")
    if not all(PORT.fullmatch(port) and 1 <= int(port or 1) <= LAST_PORT for port in found.get("port", "").split(",")):
        problems.append(f"{WHERE}: a port must be a number from 1 to {LAST_PORT}")
    if problems:
        raise Misconfigured(*problems)
