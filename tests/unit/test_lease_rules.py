"""Who may lead, for any order of renewals, pauses, lost answers and refusals."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_operator.engine import lease as leases
from queuebox_operator.engine.lease import DEADLINE_SECONDS, DURATION_SECONDS, Lease
from queuebox_operator.errors import Conflict, Unavailable

Spec = Mapping[str, Any]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Memory:
    """One Lease as an API server keeps it; `trouble` says how the next write goes."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {"metadata": {"resourceVersion": "1"}, "spec": {}}
        self.trouble = ""

    async def read(self) -> Spec:
        if self.trouble == "not read":
            raise Unavailable(0, "", "no answer")
        return self.kept

    async def write(self, wanted: Spec) -> Spec:
        if self.trouble == "not written":
            raise Unavailable(0, "", "no answer")
        if wanted["metadata"] != self.kept["metadata"]:
            raise Conflict(409, "Conflict", "somebody wrote first")
        self.kept = {**wanted, "metadata": {"resourceVersion": str(int(self.kept["metadata"]["resourceVersion"]) + 1)}}
        if self.trouble == "answer lost":
            raise Unavailable(0, "", "no answer")
        return self.kept


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(leases, "clock", made)
    return made


def renew(lease: Lease) -> None:
    with suppress(Conflict, Unavailable):
        asyncio.run(lease._renew())


steps = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.floats(0, 20),
        st.sampled_from(["", "", "", "not read", "not written", "answer lost"]),
    ),
    max_size=60,
)


@given(steps)
def test_two_never_lead_at_once(steps: list[tuple[int, float, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "clock", clock := Clock())
        store = Memory()
        candidates = [Lease(store, f"replica-{n}") for n in range(3)]
        for who, seconds, trouble in steps:
            clock.now += seconds
            store.trouble = trouble
            renew(candidates[who])
            assert sum(it.held() for it in candidates) <= 1


def test_a_free_lease_is_taken_at_once(clock: Clock) -> None:
    lease = Lease(Memory(), "first")
    renew(lease)
    assert lease.held()


def test_a_leader_that_cannot_renew_stops_to_write_before_another_may_begin(clock: Clock) -> None:
    store = Memory()
    first, second = Lease(store, "first"), Lease(store, "second")
    renew(first)
    renew(second)
    clock.now += DEADLINE_SECONDS
    renew(second)
    assert not first.held()
    assert not second.held()
    clock.now += DURATION_SECONDS - DEADLINE_SECONDS
    renew(second)
    assert second.held()


def test_a_leader_whose_answer_was_lost_finds_that_it_leads(clock: Clock) -> None:
    store = Memory()
    lease = Lease(store, "first")
    store.trouble = "answer lost"
    renew(lease)
    store.trouble = ""
    renew(lease)
    assert lease.held()


def test_a_change_of_hands_is_counted(clock: Clock) -> None:
    store = Memory()
    first, second = Lease(store, "first"), Lease(store, "second")
    renew(first)
    renew(second)
    clock.now += DURATION_SECONDS
    renew(second)
    assert store.kept["spec"]["leaseTransitions"] == 2
    assert store.kept["spec"]["holderIdentity"] == "second"


def test_a_leader_that_wakes_from_a_long_pause_may_not_write(clock: Clock) -> None:
    lease = Lease(Memory(), "first")
    renew(lease)
    clock.now += DEADLINE_SECONDS + 0.001
    assert not lease.held()


def test_a_term_ends_when_another_led_meanwhile_even_if_the_lease_is_free_again(clock: Clock) -> None:
    store = Memory()
    first, second = Lease(store, "first"), Lease(store, "second")
    renew(first)
    renew(second)
    clock.now += DURATION_SECONDS
    renew(second)
    asyncio.run(second._release())
    renew(first)
    assert not first.held()
    renew(first)
    assert first.held()
