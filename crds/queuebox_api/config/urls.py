"""What is asked of a URL in the configuration, and what a database URL says about itself. No message quotes the URL."""

import re
from typing import Annotated, Final
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from queuebox_api.config.block import Told, matching

_DATABASE: Final = {
    "postgresql": re.compile(r"(jdbc:postgresql|postgresql|postgres)://"),
    "sqlserver": re.compile(r"jdbc:sqlserver://"),
}
_NETLOC: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::[0-9]*)?")
_DOTS: Final = {".", ".."}
DOT_SEGMENT: Final = r"(?i)^([^?]*(/|\\|%2f|%5c))?(\.|%2e){1,2}([/\\?]|%2f|%5c|$)"
"""`has_dot_segment` as a pattern to search for, which an API server reads as Python does."""

_NOT_ABSOLUTE: Final = "must be an absolute http or https URL"
_UNSOUND: Final = "must be an http or https URL with a sound host and port"
_CREDENTIALS: Final = "must not hold a user name or a password; use auth"
_DOT_SEGMENT: Final = "must not hold a . or .. segment"
_FRAGMENT: Final = "must not hold a #"
_QUERY: Final = "must not hold a ?; a query belongs in path"
_ABSOLUTE: Final = r"(?i)^\s*https?://[^\s\x00-\x1f\\]*\s*$"
_USERINFO: Final = "^[^/]*//[^/?#]*@"
_SOUND_PLACE: Final = r"^[^/]*//(\[[0-9A-Fa-f:.]+\]|[\pL\pN_.-]+)(:(0*[1-9][0-9]{0,4})?)?([/?#]|\s*$)"


def has_dot_segment(path: str) -> bool:
    """Whether a `.` or `..` stands between slashes, also when it is percent-encoded."""
    return not _DOTS.isdisjoint(re.split(r"[/\\]", unquote(path.partition("?")[0])))


def _http_url(text: str) -> str:
    url = text.strip()
    if problem := _http_problem(url):
        raise PydanticCustomError("http_url", problem)
    return url


def _http_problem(url: str) -> str | None:
    if re.match(r"https?://", url, re.IGNORECASE) is None or re.search(r"[\s\x00-\x1f\\]", url):
        return _NOT_ABSOLUTE
    try:
        parts = urlsplit(url)
        port_is_sound = parts.port is None or parts.port > 0
    except ValueError:
        return _UNSOUND
    if "@" in parts.netloc:
        return _CREDENTIALS
    if not _NETLOC.fullmatch(parts.netloc) or not port_is_sound:
        return _UNSOUND
    if has_dot_segment(parts.path):
        return _DOT_SEGMENT
    return _FRAGMENT if "#" in url else None


def _without_query(url: str) -> str:
    if "?" in url:
        raise PydanticCustomError("http_url", _QUERY)
    return url


HttpUrl = Annotated[
    str,
    Field(max_length=2048),
    AfterValidator(_http_url),
    Told(matching(_ABSOLUTE), _NOT_ABSOLUTE),
    Told(f"!{matching(_USERINFO)}", _CREDENTIALS),
    Told(f"{matching(_USERINFO)} || {matching(_SOUND_PLACE)}", _UNSOUND),
    Told(f"!{matching(DOT_SEGMENT)}", _DOT_SEGMENT),
    Told("!self.contains('#')", _FRAGMENT),
]
BaseUrl = Annotated[HttpUrl, AfterValidator(_without_query), Told("!self.contains('?')", _QUERY)]


def is_database_url(url: str, kind: str) -> bool:
    """Whether `url` starts as a URL of `kind`, postgresql or sqlserver, does."""
    return _DATABASE[kind].match(url) is not None


def ambiguity(url: str) -> str | None:
    """Why a PostgreSQL URL could be read in two ways, of which one takes a part of the password for something else."""
    authority, path, query = _parts(url)
    if authority.count("@") > 1 or "@" in path or any("@" in name for name in _names(query)):
        return "is ambiguous: write %40 for @, %2F for / and %3F for ? in the user name and in the password"
    if "&" in path or "=" in path:
        return "is ambiguous: the parameters follow a ?, and & and = in the name of the database are %26 and %3D"
    return None


def names_user(url: str) -> bool:
    """Whether a database URL says who connects: in front of the host or as a parameter."""
    return bool(_userinfo(url).partition(":")[0]) or _has_parameter(url, "user")


def carries_password(url: str) -> bool:
    """Whether a database URL holds a password: in front of the host or as a parameter."""
    return ":" in _userinfo(url) or _has_parameter(url, "password")


def host_count(url: str) -> int:
    """How many hosts a database URL names, separated by commas."""
    return _parts(url)[0].rpartition("@")[2].count(",") + 1


def _parts(url: str) -> tuple[str, str, str]:
    """The authority, the path and the query of a database URL: `a`, `b` and `c` of `postgresql://a/b?c`."""
    rest = url.partition("://")[2]
    if _DATABASE["sqlserver"].match(url):
        authority, _, query = rest.partition(";")
        return authority, "", query
    place, _, query = rest.partition("?")
    authority, _, path = place.partition("/")
    return authority, path, query


def _userinfo(url: str) -> str:
    return _parts(url)[0].rpartition("@")[0]


def _names(query: str) -> list[str]:
    return [unquote(parameter.partition("=")[0]) for parameter in query.split("&")]


def _has_parameter(url: str, name: str) -> bool:
    query = _parts(url)[2]
    if _DATABASE["sqlserver"].match(url):
        return re.search(rf"(^|;)\s*{name}(name)?\s*=", query, re.IGNORECASE) is not None
    return name in _names(query)
