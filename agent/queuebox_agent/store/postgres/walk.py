"""Where a search for due rows goes on, and how much of the time it may spend on what cannot be taken."""

import math
import time
from typing import Generic, NamedTuple, TypeVar

P = TypeVar("P")


class Place(NamedTuple):
    """A place in the order of age."""

    at: float
    """scheduled_at, in seconds since 1970."""
    sequence: int


START = Place(-math.inf, 0)
END = Place(math.inf, 2**63 - 1)


CHEAP = 0.05
"""Seconds of a pass that needs no ration when there is nothing else to do."""


class Ration:
    """Lets something costly run for a tenth of the time at most."""

    def __init__(self) -> None:
        self._not_before = 0.0

    def due(self) -> bool:
        """Whether it may run now."""
        return time.monotonic() >= self._not_before

    def spent(self, seconds: float) -> None:
        """It has just run for so long."""
        self._not_before = time.monotonic() + 9 * seconds


class Walk(Generic[P]):
    """Passes over what is due, each look from where the last one stopped.

    What cannot be taken (its key waits, its topic is skipped, a dead version that vacuum may not remove yet) is stepped
    over once a pass. A new pass, for what came back or committed late, begins when the steps of the last one have had
    their tenth of the time: after the first find already, or, if `whole`, only behind the end.
    """

    def __init__(self, start: P, *, whole: bool = False) -> None:
        self.ended = True
        """The last look saw the end."""
        self.deep = False
        """The pass began with a look that did not see the end."""
        self.barren = False
        """The last look of this pass found nothing."""
        self._start = self._place = start
        self._whole = whole
        self._opening = self._arrived = self._over = True
        self._cost = 0.0
        self._passes = Ration()

    @property
    def resting(self) -> bool:
        """The pass is over and the next one may not begin yet."""
        return self._over and not self._passes.due()

    @property
    def saw_all_in_vain(self) -> bool:
        """The last look went from the start to the end, and found nothing."""
        return self._opening and self.ended and self.barren

    def begin(self) -> P:
        """The place to look behind."""
        finished = self._over if self._whole else self._arrived
        self._opening = finished and self._passes.due()
        if self._opening:
            self._place, self._cost = self._start, 0.0
            self._arrived = self._over = self.barren = False
        return self._place

    def leave(self, place: P) -> None:
        """There is nothing to find up to `place`, as another walk knows: this pass is over."""
        self._place = place
        self._arrived = self._over = self.ended = True

    def rewind(self) -> bool:
        """After a look that found nothing: begin a new pass at once, if that is cheap and it did not begin one."""
        rewound = not self._opening and self._cost < CHEAP
        if rewound:
            self._passes = Ration()
        return rewound

    def stop(self, place: P | None, *, seconds: float, fruitful: bool, ended: bool) -> None:
        """The look saw everything up to `place` (None: no further than before), and took `seconds`."""
        if self._opening:
            self.deep = not ended
        if not self._over and not (self._arrived and fruitful):
            self._cost += seconds
            self._passes.spent(self._cost)
        self._arrived |= fruitful or ended
        self._over |= ended
        self.ended, self.barren = ended, not fruitful
        self._place = self._place if place is None else place
