"""How long a key that failed waits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_operator.engine.queue import FIRST_RETRY_SECONDS, JITTER, LONGEST_RETRY_SECONDS, retry_after

failures = st.integers(1, 10_000)
chances = st.floats(0, 1)


@given(failures, chances)
def test_a_retry_never_waits_longer_than_the_longest_with_its_jitter(times: int, chance: float) -> None:
    assert 0 < retry_after(times, chance) <= LONGEST_RETRY_SECONDS * (1 + JITTER)


@given(failures, chances)
def test_one_more_failure_never_shortens_the_wait(times: int, chance: float) -> None:
    assert retry_after(times + 1, chance) >= retry_after(times, chance)


def test_the_first_retry_comes_soon_and_each_further_one_twice_as_late() -> None:
    assert [retry_after(times, 0.5) for times in (1, 2, 3)] == [FIRST_RETRY_SECONDS * n for n in (1, 2, 4)]


def test_those_that_failed_together_are_spread() -> None:
    assert retry_after(3, 1) - retry_after(3, 0) == pytest.approx(2 * JITTER * retry_after(3, 0.5))
