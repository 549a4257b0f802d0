"""Whether a JSONata expression and a JSONPath compile, and where they do not.

Anybody who may write a custom resource chooses the text, so the work is bounded before it begins: by parts, by the text
of regular expressions, and by the depth that the interpreter allows. The answer for a text is remembered.
"""

import re
import sys
from collections import OrderedDict
from hashlib import sha256
from typing import Final, NamedTuple

from jsonata import JException, Jsonata
from jsonata.regex_engine import RegexFlags

MOST_PARTS: Final = 5000
"""Words and signs of one expression. The parser copies what is left of the text for each of them."""
MOST_REGEX: Final = 1000
"""Characters of all regular expressions of one expression: a class of five characters can take milliseconds."""
MOST_CHARACTERS: Final = 32_768
"""Of one expression, as in the schema, which a request that the API server did not send has not passed."""
REMEMBERED: Final = 4096
"""Answers, by the digest of their text: the texts themselves could fill the memory."""

# The import of jsonata raises the limit of the whole process tenfold, beyond what the C stack of a thread may hold.
sys.setrecursionlimit(1000)

_PART: Final = re.compile(r"\w+|[^\w\s]")
_STEP: Final = re.compile(r"""\.[^.\[\]*?(),:@'"\s]+|\[-?[0-9]+\]|\['[^']*'\]|\["[^"]*"\]""")
_SLIPS: Final = (IndexError, KeyError, AttributeError, TypeError, ValueError, OverflowError)
"""What the parser lets out for some broken texts, in place of its own error."""


class Fault(NamedTuple):
    """Why a text does not compile."""

    position: int
    """Characters before the place; the end of the text when nobody knows."""
    text: str


class _TooMuchRegexError(Exception):
    pass


_remembered: OrderedDict[bytes, Fault | None] = OrderedDict()


def jsonata_fault(expression: str) -> Fault | None:
    """Why `expression` is no JSONata; None when it compiles."""
    if len(expression) > MOST_CHARACTERS:
        return Fault(0, f"is too large: it may have {MOST_CHARACTERS} characters")
    text = sha256(expression.encode(errors="surrogatepass")).digest()
    try:
        return _remembered[text]
    except KeyError:
        fault = _remembered[text] = _compiled(expression)
    if len(_remembered) > REMEMBERED:
        _remembered.popitem(last=False)
    return fault


def _compiled(expression: str) -> Fault | None:
    if sum(1 for _ in _PART.finditer(expression)) > MOST_PARTS:
        return Fault(0, f"is too large: it may have {MOST_PARTS} words and signs")
    end = len(expression)
    try:
        Jsonata(expression, regex_engine=_Regexes().compile)
    except JException as error:
        fault = Fault(max(0, min(error.location, end)), _one_line(str(error)))
    except re.error as error:
        fault = Fault(end, f"holds a regular expression that does not compile: {_one_line(error.msg)}")
    except _TooMuchRegexError:
        fault = Fault(end, f"holds regular expressions of more than {MOST_REGEX} characters")
    except RecursionError:
        fault = Fault(0, "is nested too deeply")
    except _SLIPS:
        fault = Fault(end, "ends too early, or holds what the parser cannot read")
    else:
        return None
    return fault


def json_path_fault(path: str) -> Fault | None:
    """Why `path` is no JSONPath of one place; None when it is one."""
    place = 1 if path.startswith("$") else 0
    while place and (step := _STEP.match(path, place)):
        place = step.end()
    if place and place == len(path):
        return None
    return Fault(
        place, "must be a JSONPath of one place: $, then .name, ['name'] or [0]; not .., *, a filter or a list"
    )


class _Regexes:
    """The regular expressions of one expression, which share a bound."""

    def __init__(self) -> None:
        self._left = MOST_REGEX

    def compile(self, pattern: str, flags: RegexFlags) -> re.Pattern[str]:
        self._left -= len(pattern)
        if self._left < 0:
            raise _TooMuchRegexError
        return re.compile(pattern, re.IGNORECASE if flags.case_insensitive else 0)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:200]
