"""How one delivery ended. Outcomes are values: the loop matches on them and the store writes them."""

from dataclasses import dataclass

from queuebox_agent.domain.message import Claim


@dataclass(frozen=True, slots=True)
class Delivered:
    """The destination took the message: state `sent`."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Back to `pending`, due `delay` seconds from now on the database clock, with one more attempt counted."""

    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Dead:
    """State `dead`: only an operator brings it back. `attempt` stays as it is."""

    reason: str


@dataclass(frozen=True, slots=True)
class Released:
    """Back to `pending` unchanged, because no delivery was begun."""


Outcome = Delivered | Retry | Dead | Released


@dataclass(frozen=True, slots=True)
class Settlement:
    """An outcome and the claim that has the right to write it."""

    claim: Claim
    outcome: Outcome
