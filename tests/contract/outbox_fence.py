"""A write wins only with the row's id, the state processing, the row's token and a lease that is not over (page 03)."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from contract.outbox_store import Bench, claim_one, deliver, settle
from queuebox_agent.domain.message import Claim
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry, Settlement

LOST: dict[str, Callable[[Bench, UUID], None]] = {
    "the lease is over, though nobody reclaimed it": lambda b, id_: b.table.change(id_, lease_ends=-0.001),
    "the row has another token": lambda b, id_: b.table.change(id_, claim_token=uuid4()),
    "the row has no token": lambda b, id_: b.table.change(id_, claim_token=None),
    "the row has no lease": lambda b, id_: b.table.change(id_, lease_ends=None),
    "the row was reclaimed": lambda b, id_: b.table.change(id_, state="pending"),
    "the row is already sent": lambda b, id_: b.table.change(id_, state="sent"),
    "the row is dead": lambda b, id_: b.table.change(id_, state="dead"),
    "the row is gone": lambda b, id_: b.table.delete(id_),
}
OUTCOMES = {"delivered": Delivered(), "retry": Retry(1, "no"), "dead": Dead("no"), "released": Released()}


class FenceRules:
    @pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
    @pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
    async def test_an_outcome_loses_when(
        self, bench: Bench, lost: Callable[[Bench, UUID], None], outcome: Outcome
    ) -> None:
        bench.table.insert()
        row = await claim_one(bench.store)
        lost(bench, row.claim.id)
        assert await settle(bench.store, outcome, row) == frozenset()

    @pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
    async def test_a_renewal_loses_when(self, bench: Bench, lost: Callable[[Bench, UUID], None]) -> None:
        bench.table.insert()
        row = await claim_one(bench.store)
        lost(bench, row.claim.id)
        assert await bench.store.renew([row.claim]) == frozenset()

    @pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
    async def test_what_lost_wrote_nothing(self, bench: Bench, outcome: Outcome) -> None:
        id_ = bench.table.insert(last_error="before")
        row = await claim_one(bench.store)
        bench.table.change(id_, lease_ends=-5)
        before = bench.table.read(id_)
        await settle(bench.store, outcome, row)
        after = bench.table.read(id_)
        assert (after.state, after.attempt, after.last_error, after.claim_token) == (
            before.state,
            before.attempt,
            before.last_error,
            before.claim_token,
        )

    async def test_the_fence_is_per_row(self, bench: Bench) -> None:
        ids = [bench.table.insert() for _ in range(3)]
        rows = await bench.store.claim(10)
        bench.table.change(ids[1], lease_ends=-1)
        assert await settle(bench.store, Delivered(), *rows) == {ids[0], ids[2]}

    async def test_a_row_is_settled_once(self, bench: Bench) -> None:
        bench.table.insert()
        row = await claim_one(bench.store)
        await deliver(bench.store, row)
        assert await settle(bench.store, Delivered(), row) == frozenset()

    async def test_an_old_owner_cannot_finish_the_row_of_a_new_one(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        old = await claim_one(bench.store)
        bench.table.change(id_, lease_ends=-1)
        assert await bench.other.reclaim() == 1
        new = await claim_one(bench.other)
        assert await settle(bench.store, Delivered(), old) == frozenset()
        assert bench.table.read(id_).claim_token == new.claim.token
        await deliver(bench.other, new)

    async def test_a_token_opens_no_other_row(self, bench: Bench) -> None:
        bench.table.fill(2)
        first, second = await bench.store.claim(1), await bench.store.claim(1)
        mixed = Claim(first[0].claim.id, second[0].claim.token)
        assert await bench.store.settle([Settlement(mixed, Delivered())]) == frozenset()

    @pytest.mark.parametrize("outcome", [Delivered(), Dead("no")], ids=["sent", "dead"])
    async def test_a_second_try_wins_what_the_first_one_wrote(self, bench: Bench, outcome: Outcome) -> None:
        id_ = bench.table.insert()
        row = await claim_one(bench.store)
        await settle(bench.store, outcome, row)
        assert await bench.store.settle([Settlement(row.claim, outcome)], again=True) == {id_}

    @pytest.mark.parametrize("outcome", [Retry(60, "no"), Released()], ids=["retry", "released"])
    async def test_a_second_try_does_not_win_a_row_that_went_back(self, bench: Bench, outcome: Outcome) -> None:
        bench.table.insert()
        row = await claim_one(bench.store)
        await settle(bench.store, outcome, row)
        assert await bench.store.settle([Settlement(row.claim, outcome)], again=True) == frozenset()

    async def test_a_second_try_does_not_win_what_another_owner_finished(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        old = await claim_one(bench.store)
        bench.table.change(id_, lease_ends=-1)
        await bench.other.reclaim()
        await deliver(bench.other, await claim_one(bench.other))
        assert await bench.store.settle([Settlement(old.claim, Delivered())], again=True) == frozenset()
