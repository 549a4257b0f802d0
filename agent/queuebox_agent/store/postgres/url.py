"""`database.url` in both of its forms, as libpq parameters. Pure: nothing is looked up and nothing is opened."""

from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import parse_qsl

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from queuebox_agent.errors import Misconfigured

Converted = TypeVar("Converted")

JDBC = "jdbc:postgresql:"
LIBPQ = tuple(option.keyword.decode() for option in pq.Conninfo.get_defaults())
CHOICES = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "target_session_attrs": ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
}
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


def libpq_parameters(url: str) -> dict[str, str]:
    """What the URL says, under libpq's names. No default is added except the host of the JDBC form, `localhost`.

    Takes `jdbc:postgresql://h1:p1,h2:p2/db?…`, `jdbc:postgresql:db` and libpq's `postgresql://…`. Raises Misconfigured,
    which names a parameter and never shows a value (a URL may hold a password).
    """
    address, _, query = url.partition("?")
    jdbc = address.startswith(JDBC)
    # In a JDBC query a plus sign is a space; in libpq's it is itself.
    given = dict(parse_qsl(query if jdbc else query.replace("+", "%2B"), keep_blank_values=True))
    found = _address(address, jdbc=jdbc) | _translated(given, jdbc=jdbc)
    if jdbc:
        found.setdefault("host", "localhost")
    _check_values(found)
    return found


def _address(address: str, *, jdbc: bool) -> dict[str, str]:
    if jdbc:
        rest = address.removeprefix(JDBC)
        address = "postgresql:" + (rest if rest.startswith("//") else f"///{rest.lstrip('/')}")
    elif not address.startswith(("postgresql://", "postgres://")):
        raise Misconfigured("database.url starts with neither jdbc:postgresql:// nor postgresql://")
    try:
        return {name: str(value) for name, value in conninfo_to_dict(address).items()}
    except psycopg.ProgrammingError:
        raise Misconfigured(
            "database.url cannot be read: after // come host:port pairs, separated by commas, then / and the database; "
            "what is special in them is percent-encoded"
        ) from None


def _translated(given: Mapping[str, str], *, jdbc: bool) -> dict[str, str]:
    known = {*LIBPQ, *TRANSLATED, *COMBINED, *IGNORED}
    if unknown := [name for name in given if name not in known]:
        raise Misconfigured(*(f"database.url has the parameter {name}, which is not known" for name in unknown))
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
        raise Misconfigured(f"database.url has a value of {name} that cannot be used") from None


def _check_values(found: Mapping[str, str]) -> None:
    problems = [
        f"database.url: {name} is one of {', '.join(choices)}"
        for name, choices in CHOICES.items()
        if name in found and found[name] not in choices
    ]
    if any(port and not port.isdecimal() for port in found.get("port", "").split(",")):
        problems.append("database.url: a port is a number")
    if problems:
        raise Misconfigured(*problems)
