"""Secrets out of text that people will read: logs, `last_error`, start-up errors (spec page 23, edge-cases 2.19).

Every pattern starts at a literal and repeats only possessively, so the cost grows with the length of a text and never
with its content. Where a text can be read in two ways, the reading that masks more wins.
"""

import re
from collections.abc import Iterable, Iterator

MASK = "***"
SHORTEST_KNOWN_SECRET = 4
"""A shorter one would mask half of the words of a text."""

# Stands where a user name would, but is a plain host: what follows is a path, a query or the end of a quotation.
_PLAIN_HOST = re.compile(r"""(?:\[[0-9A-Fa-f:.%]*+\]|[\w.~%-]*+)(?::[0-9]++)?+(?=[/?#"'<>)\]}])""")
_ONE_SLASH = re.compile(r"(?<=[A-Za-z0-9]):/(?!/)")

# Words of prose after a scheme name. A credential has a digit, a capital or punctuation inside, or is long.
_PROSE = r"""
    (?: [A-Z]?[a-z]{0,20}+ (?:[-_/][a-z]{1,20}+){0,3}+ | [A-Z]{1,15}+ | (?:SHA|MD)-?[0-9]++ )
    [.,:;!?]*+ (?![\w~+/=.-])
"""
# "Bearer" is hardly a word of prose, so after it only these pass.
_PROSE_AFTER_BEARER = r"""
    (?i: tokens?+ | auth[a-z]*+ | schemes?+ | realm | error | credentials?+ | headers?+ | challenge | access | format
       | string | value | method | prefix | is | was | and | or | in | not | of | for | with | must | required | missing
       | expired | invalid | failed | rejected ) (?![\w-])
"""
_BARE_CREDENTIAL = re.compile(
    rf"""
    (?<!\w)
    (?: (?P<digest> (?i:digest) [ \t]++ ) (?: \w++ = (?: \\*+"[^"\\\r\n]*+\\*+"?+ | [^\s,"\\]*+ ) (?: ,[ \t]*+ )?+ )++
      | (?P<bearer> (?i:bearer) [ \t]++ ) (?!{_PROSE_AFTER_BEARER}) [\w~+/=.:-]++
      | (?P<other> (?i:basic|digest|negotiate|token) [ \t]++ ) (?!{_PROSE}) [\w~+/=.:-]{{6,}}+
    )
    """,
    re.VERBOSE,
)

# No prefix of the key is matched, because every prefix is allowed (PGPASSWORD, db_pwd, x-auth-token); only in a list of
# properties (`;password=with blank;`) does it matter where the key starts.
_KEYED_SECRET = re.compile(
    r"""
    (?P<head>
        (?P<property> (?<=;) [\w.-]{0,40}? )?
        (?: authorization | api[-_.]?key | token | secret | password | passwd | pwd | credentials? | passphrase
          | private[-_.]?key | (?P<cookie>cookie) )
        \b (?: \\*+["'] )?+ [ \t]*+ (?: (?P<colon>:) | =>?+ ) [ \t]*+
        (?: (?P<escaped> \\++["'] ) | (?P<double>") | (?P<single>') )?+
    )
    (?(escaped) (?: [^"'\\] | \\++[^"'\\] )*+
    |(?(double) (?: [^"\\] | \\. )*+
    |(?(single) (?: [^'\\] | \\. )*+
    |(?(colon)  (?(cookie) [^"\r\n]++ | (?: [\[{][^\]}]*+ | [^,;}\]&"'\r\n]++ ) )
    |(?(property) [^;"'\r\n]++
    | (?: (?: basic | bearer | digest | negotiate | token ) [ \t]++ )?+ [^\s,;}\]&"']++ )))))
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

_SECRET_HEADERS = {"authorization", "proxy-authorization", "cookie", "set-cookie"}
_SECRET_HEADER_PARTS = ("api-key", "apikey", "token", "secret", "password")


def redact(text: str, known: Iterable[str] = ()) -> str:
    """Return the text with every secret in it masked, and with it the literal texts in `known`."""
    for secret in known:
        if len(secret) >= SHORTEST_KNOWN_SECRET:
            text = text.replace(secret, MASK)
    text = _without_userinfo(text)
    text = _BARE_CREDENTIAL.sub(lambda m: f"{m['digest'] or m['bearer'] or m['other']}{MASK}", text)
    return _KEYED_SECRET.sub(lambda m: f"{m['head']}{MASK}", text)


def is_secret_header(name: str) -> bool:
    """Tell whether the value of this header is masked wherever a configuration is shown."""
    lower = name.lower()
    return lower in _SECRET_HEADERS or any(part in lower for part in _SECRET_HEADER_PARTS)


def _without_userinfo(text: str) -> str:
    """Mask the user information of URLs up to the last `@` before the next `://`: a password may hold anything."""
    if "@" not in text or ":/" not in text:
        return text
    first, *after_slashes = re.split("(?<=://)", text)
    return _without_first_userinfo(first, _one_slash_starts(first)) + "".join(
        _without_first_userinfo(part, [0, *_one_slash_starts(part)]) for part in after_slashes
    )


def _one_slash_starts(part: str) -> Iterator[int]:
    """Where an authority starts behind a scheme that lost a slash."""
    return (match.end() for match in _ONE_SLASH.finditer(part))


def _without_first_userinfo(part: str, starts: Iterable[int]) -> str:
    at = part.rfind("@")
    for start in starts:
        if start > at:
            break
        if not _PLAIN_HOST.match(part, start):
            return part[:start] + MASK + part[at:]
    return part
