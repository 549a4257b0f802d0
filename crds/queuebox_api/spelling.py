"""Which known name a person may have meant."""

from collections.abc import Iterable
from typing import Final

_SHORT: Final = 4


def fold(name: str) -> str:
    """`name` without what does not matter in a key: letter case, `-` and `_` (spec page 24)."""
    return name.replace("-", "").replace("_", "").lower()


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` may misspell: at most two edits away, one for names of up to four letters."""
    near = [
        (distance, candidate)
        for candidate in candidates
        if (distance := edits(fold(name), fold(candidate))) <= _allowed(fold(name), fold(candidate))
    ]
    return min(near)[1] if near else None


def _allowed(first: str, second: str) -> int:
    return 1 if min(len(first), len(second)) <= _SHORT else 2


def edits(first: str, second: str) -> int:
    """How many letters to insert, delete, replace or swap with a neighbour make `second` of `first`."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, above, row = row, before, [i]
        for j, other in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]
