"""The column `headers` of an outbox row, as names and text values (spec page 26)."""

import json
from typing import Never

from queuebox_agent.errors import Rejected

EMPTY = "{}"

Json = dict[str, "Json"] | list["Json"] | str | bool | None
"""What `_DECODER` makes of JSON text; a number is a `_Number`."""


class _Number(str):
    """A number as it was written, so that no digit is lost."""

    __slots__ = ()


def row_headers(text: str) -> dict[str, str]:
    """Return the headers of a row. Text stays as it is, a number or a boolean is its JSON text, an object or a list is
    compact JSON text, and a null is left out. Raises `Rejected` when the column holds no JSON object, or one that nests
    too deep to be read.
    """
    if text == EMPTY:
        return {}
    try:
        headers: Json = _DECODER.decode(text)
        if isinstance(headers, dict):
            return {name: _as_text(value) for name, value in headers.items() if value is not None}
    except (ValueError, RecursionError):
        pass
    raise Rejected("the headers of the row are no JSON object, or one that nests too deep")


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Json) -> str:
    match value:
        case _Number():
            return value
        case dict():
            return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{_compact(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_compact, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _no_number(text: str) -> Never:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_no_number)
