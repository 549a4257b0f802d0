"""The `auth` block of an HTTP destination, as headers and as secrets (spec page 24)."""

from base64 import b64encode
from collections.abc import Mapping

from queuebox_agent.broker.http.headers import AUTHORIZATION
from queuebox_agent.domain.redact import is_secret_header
from queuebox_api.config import BasicAuth, HeaderAuth, HttpDestination, OAuth2Auth


def static_headers(destination: HttpDestination) -> Mapping[str, str]:
    """The `headers` of the destination, without one that an OAuth2 token will replace."""
    if isinstance(destination.auth, OAuth2Auth):
        return {name: value for name, value in destination.headers.items() if name.lower() != AUTHORIZATION.lower()}
    return destination.headers


def auth_header(destination: HttpDestination) -> Mapping[str, str]:
    """The header that never changes; nothing for OAuth2, whose token comes and goes."""
    match destination.auth:
        case BasicAuth() as auth:
            pair = f"{auth.username}:{auth.password.get_secret_value()}"
            return {AUTHORIZATION: f"Basic {b64encode(pair.encode()).decode()}"}
        case HeaderAuth() as auth:
            return {auth.header_name: auth.header_value.get_secret_value()}
        case _:
            return {}


def secrets(destination: HttpDestination) -> tuple[str, ...]:
    """What no reason may show, wherever a receiver repeats it."""
    found = {value for name, value in destination.headers.items() if is_secret_header(name)}
    for value in auth_header(destination).values():
        found |= {value, value.rpartition(" ")[2]}
    if isinstance(destination.auth, BasicAuth):
        found.add(destination.auth.password.get_secret_value())
    return tuple(sorted(found, key=len, reverse=True))
