"""How far the search for due rows has come, kept from claim to claim."""

from dataclasses import dataclass, field

from queuebox_agent.store.postgres.walk import START, Place, Walk

FEWEST_STEPS, MOST_STEPS = 100, 5_000


@dataclass(slots=True)
class Search:
    """The walks of one set of skipped topics; their places mean nothing for another set."""

    skip: list[str]
    unkeyed: Walk[Place] = field(default_factory=lambda: Walk(START))
    by_age: Walk[Place] = field(default_factory=lambda: Walk(START))
    by_key: Walk[str] = field(default_factory=lambda: Walk("", whole=True))

    @property
    def ended(self) -> bool:
        """Every row that is due now was looked at."""
        return self.unkeyed.ended and self.by_age.ended

    def rewind(self) -> bool:
        """Look at everything once more, if that is cheap and was not just done."""
        return any([self.unkeyed.rewind(), self.by_age.rewind()])


def steps_of(walk: Walk[Place], limit: int) -> int:
    """How many rows the next look sees: about as many as it may take, and many after a look that found nothing."""
    return max(limit, MOST_STEPS if walk.barren else FEWEST_STEPS)


def behind(place: Place) -> dict[str, float]:
    """The place as the statements take it."""
    return {"at": place.at, "sequence": place.sequence}
