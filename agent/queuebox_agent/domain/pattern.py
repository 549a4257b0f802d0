"""Topic patterns (spec page 11, edge-cases 2.3): `*` is one segment without a dot, `**` any text, all else literal.

The match walks the topic once and keeps the set of places in the pattern as the bits of an integer, so that no pattern
and no topic can make it backtrack.
"""

import re
from collections import defaultdict

_PARTS = re.compile(r"\*\*|\*|.", re.DOTALL)


class TopicPattern:
    """A compiled pattern. Raises ValueError when it is blank or holds a run of three or more `*`."""

    def __init__(self, text: str) -> None:
        if not text.strip():
            raise ValueError("the topic pattern is blank")
        if "***" in text:
            raise ValueError("the topic pattern holds ***: write * for one segment or ** for any text")
        self.text = text
        self._literal: defaultdict[str, int] = defaultdict(int)
        self._segment = self._any = 0
        parts = _PARTS.findall(text)
        for place, part in enumerate(parts):
            if part == "**":
                self._any |= 1 << place
            elif part == "*":
                self._segment |= 1 << place
            else:
                self._literal[part] |= 1 << place
        self._end = 1 << len(parts)

    def matches(self, topic: str) -> bool:
        """Whether the whole topic matches."""
        places = self._past_any(1)
        for character in topic:
            segment = 0 if character == "." else places & self._segment
            moved = (places & self._literal.get(character, 0) | segment) << 1
            places = self._past_any(moved | segment | places & self._any)
            if not places:
                return False
        return bool(places & self._end)

    def _past_any(self, places: int) -> int:
        return places | (places & self._any) << 1
