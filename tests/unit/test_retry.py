import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.domain.outcome import Dead, Retry
from queuebox_agent.domain.retry import after_failure, delay_ms
from services.rows import row


def none(_: int) -> int:
    return 0


def most(largest: int) -> int:
    return largest


@pytest.mark.parametrize(("attempt", "expected"), [(0, 1000), (1, 2000), (2, 4000), (3, 8000), (4, 16000), (5, 32000)])
def test_the_delay_doubles_with_each_attempt(attempt: int, expected: int) -> None:
    assert delay_ms(attempt, 1000, none) == expected


@pytest.mark.parametrize(("attempt", "expected"), [(0, 1250), (1, 2500), (3, 10000)])
def test_jitter_adds_at_most_a_quarter(attempt: int, expected: int) -> None:
    assert delay_ms(attempt, 1000, most) == expected


@pytest.mark.parametrize("jitter", [none, most])
def test_a_delay_at_the_ceiling_is_exactly_sixty_seconds(jitter: object) -> None:
    assert delay_ms(6, 1000, jitter) == 60_000  # type: ignore[arg-type]  # both are jitters


def test_the_exponent_stops_at_twenty() -> None:
    assert delay_ms(10_000, 1, none) == 60_000


def test_a_negative_attempt_counts_as_the_first() -> None:
    assert delay_ms(-3, 1000, none) == 1000


def test_a_tiny_delay_still_has_jitter() -> None:
    assert delay_ms(0, 1, most) == 2


@given(st.integers(-5, 100), st.integers(1, 10**7))
def test_a_delay_is_never_outside_its_bounds(attempt: int, base: int) -> None:
    assert min(base, 60_000) <= delay_ms(attempt, base) <= 60_000


def test_a_ceiling_of_five_means_six_deliveries() -> None:
    outcomes = [after_failure(row(attempt=n, max_attempts=5), "no", 1000) for n in range(6)]
    assert [type(outcome) for outcome in outcomes] == [Retry] * 5 + [Dead]


def test_the_destination_may_ask_for_a_longer_delay() -> None:
    assert after_failure(row(), "busy", 1000, after=30.0, jitter=none) == Retry(30.0, "busy")


def test_the_destination_cannot_ask_for_more_than_the_ceiling() -> None:
    assert after_failure(row(), "busy", 1000, after=86_400.0, jitter=none) == Retry(60.0, "busy")


def test_the_destination_cannot_ask_for_a_shorter_delay() -> None:
    assert after_failure(row(attempt=3), "busy", 1000, after=0.5, jitter=none) == Retry(8.0, "busy")
