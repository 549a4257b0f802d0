from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.loops.lanes import Lanes, Run
from services.rows import row


def run(topic: str = "order.created", length: int = 1) -> Run:
    return deque(row(topic=topic) for _ in range(length))


def fill(lanes: Lanes, destination: str, rows: int) -> None:
    for _ in range(rows):
        lanes.put(destination, run(f"{destination}.topic"))


def started(lanes: Lanes) -> list[str]:
    names = []
    while taken := lanes.take():
        names.append(taken[0])
    return names


def test_one_destination_may_take_every_slot() -> None:
    lanes = Lanes(["a"], concurrency=8, capacity=100)
    fill(lanes, "a", 20)
    assert len(started(lanes)) == 8


def test_a_destination_that_hangs_leaves_slots_to_each_other_one() -> None:
    lanes = Lanes(["slow", "b", "c"], concurrency=8, capacity=300)
    fill(lanes, "slow", 20)
    assert started(lanes) == ["slow"] * 6


def test_two_destinations_that_hang_leave_a_slot_to_the_third() -> None:
    lanes = Lanes(["slow", "slower", "c"], concurrency=8, capacity=300)
    fill(lanes, "slow", 20)
    fill(lanes, "slower", 20)
    started(lanes)
    fill(lanes, "c", 1)
    assert started(lanes) == ["c"]


def test_destinations_take_turns() -> None:
    lanes = Lanes(["a", "b"], concurrency=4, capacity=100)
    fill(lanes, "a", 10)
    fill(lanes, "b", 10)
    assert started(lanes) == ["a", "b", "a", "b"]


def test_with_more_destinations_than_slots_one_takes_at_most_half() -> None:
    lanes = Lanes([str(n) for n in range(20)], concurrency=8, capacity=100)
    fill(lanes, "0", 20)
    assert len(started(lanes)) == 4


def test_a_finished_publish_gives_its_slot_back() -> None:
    lanes = Lanes(["a"], concurrency=1, capacity=100)
    fill(lanes, "a", 2)
    lanes.take()
    lanes.finished("a")
    assert started(lanes) == ["a"]


def test_rows_behind_the_head_of_a_run_go_on_waiting() -> None:
    lanes = Lanes(["a"], concurrency=8, capacity=10)
    lanes.put("a", run(length=5))
    lanes.take()
    assert (lanes.waiting, lanes.room) == (4, 6)


def test_a_claim_waits_until_half_of_what_may_wait_is_gone() -> None:
    lanes = Lanes(["a"], concurrency=8, capacity=10)
    fill(lanes, "a", 6)
    assert lanes.room == 0


def test_rows_that_leave_make_room() -> None:
    lanes = Lanes(["a"], concurrency=8, capacity=10)
    lanes.put("a", run(length=5))
    lanes.take()
    lanes.leave("a", 4)
    assert lanes.room == 10


def test_a_full_lane_keeps_no_room_from_the_others() -> None:
    lanes = Lanes(["slow", "b"], concurrency=8, capacity=100)
    fill(lanes, "slow", 100)
    assert lanes.room == 100


def test_full_lanes_keep_no_room_from_the_last_one_that_is_not() -> None:
    lanes = Lanes(["slow", "slower", "c"], concurrency=8, capacity=100)
    fill(lanes, "slow", 80)
    fill(lanes, "slower", 80)
    assert lanes.room == 100


def test_more_destinations_than_rows_leave_room() -> None:
    lanes = Lanes([str(n) for n in range(20)], concurrency=8, capacity=5)
    for n in range(19):
        fill(lanes, str(n), 2)
    assert lanes.room == 5


def test_what_is_too_much_comes_from_the_fullest_lane() -> None:
    lanes = Lanes(["slow", "b"], concurrency=8, capacity=10)
    fill(lanes, "b", 4)
    fill(lanes, "slow", 30)
    assert {row.topic for row in lanes.overflow()} == {"slow.topic"}
    assert lanes.waiting == 20


def test_a_lane_within_its_share_gives_nothing_back() -> None:
    lanes = Lanes([str(n) for n in range(20)], concurrency=8, capacity=5)
    for n in range(20):
        fill(lanes, str(n), 1)
    assert list(lanes.overflow()) == []


def test_the_topics_of_a_full_lane_are_left_in_the_table() -> None:
    lanes = Lanes(["slow", "b"], concurrency=8, capacity=100)
    fill(lanes, "slow", 50)
    assert lanes.full_topics() == ["slow.topic"]


def test_a_single_destination_is_never_skipped() -> None:
    lanes = Lanes(["a"], concurrency=8, capacity=10)
    fill(lanes, "a", 10)
    assert lanes.full_topics() == []


def test_draining_takes_out_every_waiting_row() -> None:
    lanes = Lanes(["a", "b"], concurrency=8, capacity=100)
    fill(lanes, "a", 3)
    lanes.put("b", run(length=4))
    assert (len(list(lanes.drain())), lanes.waiting) == (7, 0)


def test_a_run_goes_whole_when_one_of_its_rows_is_lost() -> None:
    lanes = Lanes(["a"], concurrency=8, capacity=100)
    lost, kept = run(length=3), run()
    lanes.put("a", lost)
    lanes.put("a", kept)
    assert lanes.drop({lost[1].claim.id}) == list(lost)
    assert lanes.waiting == 1


@pytest.mark.parametrize("concurrency", [1, 2, 3, 8, 32])
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=200))
def test_the_bounds_hold_whatever_starts_and_ends(concurrency: int, steps: list[tuple[int, bool]]) -> None:
    names = [str(n) for n in range(5)]
    lanes, flying = Lanes(names, concurrency, capacity=100), deque[str]()
    for number, ends in steps:
        lanes.put(names[number], run())
        if ends and flying:
            lanes.finished(flying.popleft())
        flying.extend(started(lanes))
        assert lanes.in_flight == len(flying) <= concurrency
    for name in flying:
        lanes.finished(name)
    assert lanes._owed == lanes._reserve * 5


@given(st.lists(st.integers(0, 4), min_size=1, max_size=100))
def test_a_destination_with_nothing_in_flight_can_always_start(hung: list[int]) -> None:
    names = [str(n) for n in range(6)]
    lanes = Lanes(names, concurrency=8, capacity=100)
    for number in hung:
        lanes.put(names[number], run())
    started(lanes)
    lanes.put("5", run())
    assert started(lanes) == ["5"]
