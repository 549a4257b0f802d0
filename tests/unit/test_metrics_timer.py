import math
import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.telemetry.timer import QUANTILES, WINDOW_SECONDS, Timer

PART = WINDOW_SECONDS / 4


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timer(clock: Clock) -> Timer:
    return Timer(clock)


def test_the_quantiles_are_those_of_the_reference_page() -> None:
    assert QUANTILES == (0.5, 0.95, 0.99)


def test_without_an_observation_quantiles_are_unknown_and_the_largest_is_zero(timer: Timer) -> None:
    assert all(math.isnan(value) for value in timer.quantiles().values())
    assert (timer.largest(), timer.count, timer.sum) == (0.0, 0, 0.0)


def test_quantiles_of_a_known_distribution(timer: Timer) -> None:
    for milliseconds in range(1, 1001):
        timer.observe(milliseconds / 1000)
    assert timer.quantiles() == pytest.approx({0.5: 0.5, 0.95: 0.95, 0.99: 0.99}, rel=0.011)


def test_the_largest_is_exact(timer: Timer) -> None:
    for seconds in (0.1, 12.345678, 3.0):
        timer.observe(seconds)
    assert timer.largest() == 12.345678


def test_the_largest_is_forgotten_with_its_window(timer: Timer, clock: Clock) -> None:
    timer.observe(9.0)
    clock.now += WINDOW_SECONDS - PART - 1
    timer.observe(1.0)
    assert timer.largest() == 9.0
    clock.now += PART + 1
    assert timer.largest() == 1.0


def test_quantiles_forget_with_the_window(timer: Timer, clock: Clock) -> None:
    for _ in range(100):
        timer.observe(9.0)
    clock.now += WINDOW_SECONDS
    timer.observe(1.0)
    assert timer.quantiles()[0.5] == pytest.approx(1.0, rel=0.01)


def test_count_and_sum_never_forget(timer: Timer, clock: Clock) -> None:
    timer.observe(2.0)
    clock.now += 100 * WINDOW_SECONDS
    timer.observe(3.0)
    assert (timer.count, timer.sum) == (2, 5.0)


def test_a_long_pause_empties_the_window(timer: Timer, clock: Clock) -> None:
    timer.observe(2.0)
    clock.now += 1000 * WINDOW_SECONDS
    assert timer.largest() == 0.0
    assert math.isnan(timer.quantiles()[0.5])


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=200), st.lists(st.floats(0, PART), max_size=10))
def test_a_quantile_lies_within_what_was_observed(durations: list[float], pauses: list[float]) -> None:
    timer = Timer(clock := Clock())
    for pause in pauses:
        clock.now += pause
        timer.observe(1.0)
    for duration in durations:
        timer.observe(duration)
    assert 0.0 <= timer.quantiles()[0.99] <= timer.largest() * 1.011


def test_memory_is_bounded_whatever_is_observed(timer: Timer) -> None:
    for exponent in range(-300, 300):
        timer.observe(10.0**exponent)
    assert sum(len(part.sketch._store.bins) for part in timer._parts) <= 4 * 2048


def test_an_observation_costs_microseconds() -> None:
    timer = Timer()
    seconds = min(timeit.repeat(lambda: timer.observe(0.012), number=2000, repeat=5)) / 2000
    # Measured at less than 1 µs; the bound leaves room for a slow and busy machine.
    assert seconds < 20e-6
