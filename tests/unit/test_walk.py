"""How a search shares its time between what it knows and what may have come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.store.postgres import walk
from queuebox_agent.store.postgres.walk import CHEAP, START, Place, Ration, Walk

HERE, FURTHER = Place(10.0, 1), Place(20.0, 2)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(walk, "time", clock)
    return clock


def look(
    of: Walk[Place], clock: Clock, to: Place | None, *, seconds: float = 0.1, found: bool, ended: bool = False
) -> Place:
    """One look that takes its time. Returns where it began."""
    began_at = of.begin()
    clock.now += seconds
    of.stop(to, seconds=seconds, fruitful=found, ended=ended)
    return began_at


def test_a_ration_is_due_at_first(clock: Clock) -> None:
    assert Ration().due()


@pytest.mark.parametrize(("after", "due"), [(8.9, False), (9.1, True)])
def test_what_ran_for_a_second_may_run_again_nine_seconds_later(clock: Clock, after: float, *, due: bool) -> None:
    ration = Ration()
    ration.spent(1.0)
    clock.now += after
    assert ration.due() == due


@given(st.lists(st.floats(0.001, 10), min_size=2, max_size=30))
def test_a_ration_never_takes_more_than_a_tenth_of_the_time(costs: list[float]) -> None:
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "time", clock)
        ration, spent, began = Ration(), 0.0, clock.now
        for cost in costs:
            while not ration.due():
                clock.now += 0.5
            assert spent <= (clock.now - began) / 10 + 1e-6
            clock.now += cost
            ration.spent(cost)
            spent += cost


def test_a_look_goes_on_where_the_last_one_stopped(clock: Clock) -> None:
    rows = Walk(START)
    assert look(rows, clock, HERE, found=True) == START
    assert look(rows, clock, FURTHER, found=True) == HERE
    assert look(rows, clock, None, found=True) == FURTHER


def test_a_new_pass_begins_when_the_first_find_has_had_its_tenth_of_the_time(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, seconds=0.1, found=True)
    clock.now += 0.8
    assert rows.begin() == HERE
    clock.now += 0.11
    assert rows.begin() == START


def test_looks_that_find_nothing_cost_the_pass_time(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, seconds=0.1, found=False)
    look(rows, clock, FURTHER, seconds=0.1, found=True)
    clock.now += 1.7
    assert rows.begin() == FURTHER
    clock.now += 0.2
    assert rows.begin() == START


def test_looks_that_find_something_cost_the_pass_nothing(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, seconds=0.1, found=True)
    look(rows, clock, FURTHER, seconds=1.0, found=True)
    assert rows.begin() == START


def test_a_pass_that_found_nothing_yet_is_not_given_up(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, found=False)
    clock.now += 1000
    assert rows.begin() == HERE


def test_looks_behind_the_end_do_not_put_the_next_pass_off(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, seconds=0.1, found=False, ended=True)
    for _ in range(4):
        look(rows, clock, None, seconds=0.2, found=False, ended=True)
    clock.now += 0.11
    assert rows.begin() == START


def test_a_whole_walk_goes_to_its_end_before_it_begins_anew(clock: Clock) -> None:
    keys = Walk("", whole=True)
    keys.begin()
    keys.stop("k", seconds=0.1, fruitful=True, ended=False)
    clock.now += 1000
    assert keys.begin() == "k"
    keys.stop("z", seconds=0.1, fruitful=True, ended=True)
    assert keys.begin() == ""


def test_a_walk_rests_between_two_passes(clock: Clock) -> None:
    keys = Walk("", whole=True)
    rests = [keys.resting]
    keys.begin()
    keys.stop("z", seconds=1.0, fruitful=False, ended=True)
    rests.append(keys.resting)
    clock.now += 9.1
    assert [*rests, keys.resting] == [False, True, False]


@pytest.mark.parametrize(("found", "barren"), [(True, False), (False, True)])
def test_a_look_that_found_nothing_is_barren(clock: Clock, *, found: bool, barren: bool) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, found=found)
    assert rows.barren == barren


@pytest.mark.parametrize(("ended", "deep"), [(True, False), (False, True)])
def test_a_walk_is_deep_when_its_first_look_does_not_see_the_end(clock: Clock, *, ended: bool, deep: bool) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, found=True, ended=ended)
    look(rows, clock, FURTHER, found=False, ended=True)
    assert rows.deep == deep


@pytest.mark.parametrize(("seconds", "rewound"), [(CHEAP / 2, True), (CHEAP * 2, False)])
def test_only_a_cheap_pass_is_begun_anew_before_its_time(clock: Clock, seconds: float, *, rewound: bool) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, seconds=seconds, found=True, ended=True)
    look(rows, clock, None, seconds=0.001, found=False, ended=True)
    assert rows.rewind() == rewound
    assert rows.begin() == (START if rewound else HERE)


def test_a_look_from_the_start_is_not_repeated(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, None, seconds=0.001, found=False, ended=True)
    assert not rows.rewind()


def test_a_look_from_the_start_to_the_end_that_found_nothing_saw_all_in_vain(clock: Clock) -> None:
    keys = Walk("", whole=True)
    keys.begin()
    keys.stop("k", seconds=0.1, fruitful=False, ended=True)
    assert keys.saw_all_in_vain


@pytest.mark.parametrize(("found", "ended"), [(True, True), (False, False)])
def test_a_look_that_found_something_or_not_the_end_did_not(clock: Clock, *, found: bool, ended: bool) -> None:
    keys = Walk("", whole=True)
    keys.begin()
    keys.stop("k", seconds=0.1, fruitful=found, ended=ended)
    assert not keys.saw_all_in_vain


def test_a_pass_that_is_left_goes_on_behind_the_place_until_the_next_one(clock: Clock) -> None:
    rows = Walk(START)
    look(rows, clock, HERE, seconds=0.1, found=False)
    rows.leave(FURTHER)
    assert rows.ended
    assert rows.begin() == FURTHER
    clock.now += 0.91
    assert rows.begin() == START
