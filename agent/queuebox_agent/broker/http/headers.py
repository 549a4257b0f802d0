"""The headers of one request, merged from the destination, its authentication and the row (spec page 26)."""

import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

from multidict import CIMultiDict

from queuebox_agent.domain.headers import EMPTY, row_headers
from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.errors import Misconfigured, Rejected

AUTHORIZATION: Final = "Authorization"
JSON: Final = "application/json"
USER_AGENT: Final = f"queuebox/{version('queuebox')}"

NOT_FOR_ROWS: Final = frozenset(
    {
        # They belong to one connection or frame the body; the relay copies them from the request that it received.
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
        # They would promise a coding that the body does not have, or ask for one that nobody here reads.
        "accept-encoding", "content-encoding",
    }
)  # fmt: skip
NOT_FOR_DESTINATIONS: Final = NOT_FOR_ROWS - {"host"}

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What no HTTP header carries: control characters but the tab, and halves of a surrogate pair.
_NO_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")

Headers = CIMultiDict[str]


class HeaderPlan:
    """What a destination knows of its headers before a row comes."""

    def __init__(self, called: str, own: Mapping[str, str], auth: Mapping[str, str]) -> None:
        """`called`: the destination in the configuration; `own`: its static headers; `auth`: the header of its `auth`
        block, which wins. Raises `Misconfigured` when one of them cannot be sent.
        """
        self._always: Headers = CIMultiDict({"User-Agent": USER_AGENT, "Accept-Encoding": "identity"})
        for name, value in (*own.items(), *auth.items()):
            if (problem := _problem(name, value)) or name.lower() in NOT_FOR_DESTINATIONS:
                raise Misconfigured(f"{called}: the header {name!a:.80} {problem or 'belongs to the connection'}")
            if not _is_json_type(name, value):
                self._always[name] = value

    def of(self, row: OutboxRow) -> Headers:
        """Return the headers of one delivery. Raises `Rejected` when one of them is what HTTP cannot carry."""
        headers = _standard(row)
        headers.extend(self._always if row.headers == EMPTY else self._merged(row_headers(row.headers)))
        return headers

    def _merged(self, of_row: Mapping[str, str]) -> Headers:
        merged = self._always.copy()
        for name, value in of_row.items():
            if problem := _problem(name, value):
                raise Rejected(f"the header {name!a:.80} of the row {problem}")
            if name.lower() not in NOT_FOR_ROWS and not _is_json_type(name, value):
                merged[name] = value
        return merged


def _standard(row: OutboxRow) -> Headers:
    headers: Headers = CIMultiDict(
        {
            "Content-Type": JSON,
            "X-Message-Id": str(row.claim.id),
            "X-Topic": row.topic,
            "X-Attempt": str(row.attempt),
        }
    )
    if row.key is not None:
        headers["X-Message-Key"] = row.key
    if not is_header_value(row.topic) or not is_header_value(row.key or ""):
        raise Rejected("the topic or the key of the row holds a control character, which no HTTP header carries")
    return headers


def _problem(name: str, value: str) -> str | None:
    if not _TOKEN.fullmatch(name):
        return "has a name that is none in HTTP"
    return None if is_header_value(value) else "holds a control character, which no HTTP header carries"


def is_header_value(text: str) -> bool:
    """Tell whether HTTP can carry the text in a header. Other characters than ASCII travel as UTF-8."""
    return _NO_VALUE.search(text) is None


def _is_json_type(name: str, value: str) -> bool:
    """Tell whether the header says again what the standard header says. Every relayed row has one from its sender."""
    return name.lower() == "content-type" and value.partition(";")[0].strip().lower() == JSON
