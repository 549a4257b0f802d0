"""Which Route takes all topics of another one that stands behind it.

Only what can be proved within a bound is said, and pairs are compared, never unions of Routes: whoever writes patterns
that need more gets no answer, and holds up nobody.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

MOST_STEPS: Final = 500
"""Of one proof."""
MOST_STEPS_IN_ALL: Final = 50_000
"""Of one look at all Routes."""
REMEMBERED: Final = 16_384

_PARTS: Final = re.compile(r"\*\*|\*|.", re.DOTALL)
_OTHER: Final = ""
"""Stands for every character that neither pattern writes."""


def shadows(routes: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Of `routes`, name and pattern in the order in which they are tested: the first that covers each shadowed one."""
    found: dict[str, str] = {}
    before = _Before()
    for name, pattern in routes:
        if by := before.covering(pattern):
            found[name] = by
        else:
            before.add(name, pattern)  # what a shadowed Route covers, its shadow covers too
    return found


def covers(wide: str, narrow: str) -> bool:
    """Whether every topic that matches `narrow` is proved to match `wide` too."""
    return _proof(wide, narrow).holds


class _Route(NamedTuple):
    order: int
    name: str
    pattern: str


class _Before:
    """The Routes so far, by the text in front of their first `*`: only those can cover whose text is a prefix."""

    def __init__(self) -> None:
        self._by_prefix: defaultdict[str, list[_Route]] = defaultdict(list)
        self._literal: dict[str, _Route] = {}
        self._count = 0
        self._steps = MOST_STEPS_IN_ALL

    def add(self, name: str, pattern: str) -> None:
        self._count += 1
        route = _Route(self._count, name, pattern)
        if "*" in pattern:
            self._by_prefix[pattern.partition("*")[0]].append(route)
        else:
            self._literal[pattern] = route

    def covering(self, pattern: str) -> str | None:
        prefix, suffix = pattern.partition("*")[0], pattern.rpartition("*")[2]
        routes = [route for end in range(len(prefix) + 1) for route in self._by_prefix.get(prefix[:end], ())]
        routes += [self._literal[pattern]] if pattern in self._literal else []
        for route in sorted(routes):
            if suffix.endswith(route.pattern.rpartition("*")[2]) and self._steps > 0:
                proof = _proof(route.pattern, pattern)
                self._steps -= proof.steps
                if proof.holds:
                    return route.name
        return None


class _Result(NamedTuple):
    holds: bool
    steps: int
    """Also counted when the result is remembered, so that what is said does not depend on what was asked before."""


@lru_cache(maxsize=REMEMBERED)
def _proof(wide: str, narrow: str) -> _Result:
    if wide in {narrow, "**"}:
        return _Result(holds=True, steps=1)
    return _Walk(wide, narrow).result()


class _Walk:
    """Walks `narrow` and keeps, for each place in it, the places that `wide` can be in, as the bits of an integer."""

    def __init__(self, wide: str, narrow: str) -> None:
        self._narrow = _PARTS.findall(narrow)
        self._literal: defaultdict[str, int] = defaultdict(int)
        parts = _PARTS.findall(wide)
        for place, part in enumerate(parts):
            self._literal[part] |= 1 << place
        self._any, self._segment = self._literal.pop("**", 0), self._literal.pop("*", 0)
        self._end = 1 << len(parts)
        self._letters = {*self._literal, *self._narrow, _OTHER, "."} - {"*", "**"}

    def result(self) -> _Result:
        start = (0, self._past_any(1))
        seen, todo = {start}, [start]
        steps = 0
        while todo and steps <= MOST_STEPS:
            place, reached = todo.pop()
            steps += 1
            if not reached or (place == len(self._narrow) and not reached & self._end):
                return _Result(holds=False, steps=steps)
            fresh = self._next(place, reached) - seen
            seen |= fresh
            todo += fresh
        return _Result(holds=not todo, steps=steps)

    def _next(self, place: int, reached: int) -> set[tuple[int, int]]:
        if place == len(self._narrow):
            return set()
        part = self._narrow[place]
        if "*" not in part:
            return {(place + 1, self._read(reached, part))}
        if part == "**":
            return {(place + 1, reached)} | {(place, self._read(reached, letter)) for letter in self._letters}
        read = {self._read(reached, letter) for letter in self._letters - {"."}}
        return {(onward, after) for onward in (place, place + 1) for after in read}

    def _read(self, reached: int, letter: str) -> int:
        """Where `wide` can be after one more letter of the topic."""
        segment = 0 if letter == "." else reached & self._segment
        moved = (reached & self._literal.get(letter, 0) | segment) << 1
        return self._past_any(moved | segment | reached & self._any)

    def _past_any(self, reached: int) -> int:
        """A `**` also matches nothing, so whoever stands before it stands behind it too."""
        return reached | (reached & self._any) << 1
