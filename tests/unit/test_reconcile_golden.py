"""Each folder of tests/golden/operator is a behaviour: steps in, the last plan out.

When a difference is meant, run `python tests/services/reconcile_golden.py` and read what it changed.
"""

import pytest

from services.reconcile_golden import BEHAVIOURS, expected, expected_rollouts, outcome, rollouts


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_behaviour_is_as_it_was(behaviour: str) -> None:
    assert outcome(behaviour) == expected(behaviour)


def test_there_are_behaviours() -> None:
    assert len(BEHAVIOURS) >= 40


def test_a_change_of_the_operator_rolls_no_agent_by_accident() -> None:
    """Each box of each user gets new pods when a digest changes: say so in the change log if you mean it."""
    assert rollouts() == expected_rollouts()
