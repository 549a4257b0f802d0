"""Where the search for due rows goes on, and how much time it may spend on stepping over rows that it cannot take."""

import math
import time
from typing import Generic, NamedTuple, TypeVar


class Place(NamedTuple):
    """A place in the order of age."""

    at: float
    """scheduled_at, in seconds since 1970."""
    sequence: int


START = Place(-math.inf, 0)
END = Place(math.inf, 2**63 - 1)
FEWEST_STEPS, MOST_STEPS = 100, 5_000


P = TypeVar("P")


class Ration:
    """Lets something costly run for a tenth of the time at most."""

    def __init__(self) -> None:
        self._not_before = 0.0

    def due(self) -> bool:
        return time.monotonic() >= self._not_before

    def spent(self, seconds: float) -> None:
        self._not_before = time.monotonic() + 9 * seconds


class Walk(Generic[P]):
    """Passes over what is due, each look from where the last one stopped.

    What cannot be taken (its key waits, its topic is skipped, a dead version that vacuum may not remove yet) is stepped
    over once a pass. A new pass begins at the very start, for rows that came back or committed late, as soon as the
    steps of the last one have had their tenth of the time.
    """

    def __init__(self, start: P, *, whole: bool = False) -> None:
        self.ended = True
        """The last look saw the end."""
        self.deep = False
        """There was more than one look could see when the pass began."""
        self.wide = False
        """The last look found nothing: the next may see more."""
        self._start = self._place = start
        self._whole = whole
        self._first = self._arrived = self._over = True
        self._cost = 0.0
        self._passes = Ration()

    @property
    def resting(self) -> bool:
        """The pass is over and the next one may not begin yet."""
        return self._over and not self._passes.due()

    def begin(self) -> P:
        """The place to look behind."""
        self._first = (self._over if self._whole else self._arrived) and self._passes.due()
        if self._first:
            self._place, self._cost = self._start, 0.0
            self._arrived = self._over = self.wide = False
        return self._place

    def stop(self, place: P | None, *, seconds: float, fruitful: bool, ended: bool, wide: bool = True) -> None:
        """The look saw everything up to `place` and took `seconds`."""
        if self._first:
            self.deep = not ended
        if not self._over and not (fruitful and self._arrived):
            self._cost += seconds
            self._passes.spent(self._cost)
        self._arrived |= fruitful or ended
        self._over |= ended
        self.ended, self.wide = ended, wide and not fruitful
        self._place = self._place if place is None else place
