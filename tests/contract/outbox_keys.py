"""One row of a key in flight, in insert order, over all processes (spec page 06, edge-cases 0.3 and 3.1)."""

import pytest

from contract.outbox_store import Bench, claim_one, claimed_ids, claimed_soon, deliver, release, settle
from queuebox_agent.domain.outcome import Dead, Outcome, Released, Retry


class KeyRules:
    async def test_a_run_is_consecutive_and_begins_with_the_first_row(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k") for _ in range(5)]
        assert await claimed_ids(bench.store, 3) == ids[:3]

    async def test_a_run_has_one_token(self, bench: Bench) -> None:
        bench.table.fill(5, key="k")
        assert len({row.claim.token for row in await bench.store.claim(10)}) == 1

    async def test_rows_of_one_transaction_keep_their_insert_order(self, bench: Bench) -> None:
        with bench.table.open() as transaction:
            ids = [transaction.insert(key="k") for _ in range(4)]
        assert await claimed_ids(bench.store) == ids

    async def test_order_within_a_key_is_by_sequence_and_not_by_time(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k", due=due) for due in (-1, -3, -2)]
        assert await claimed_ids(bench.store) == ids

    async def test_rows_of_one_key_stand_together(self, bench: Bench) -> None:
        for key in ("a", "b", "a", "b", "a"):
            bench.table.insert(key=key)
        keys = [row.key for row in await bench.store.claim(10)]
        assert keys == sorted(keys, key=str)

    async def test_keys_are_independent(self, bench: Bench) -> None:
        bench.table.insert(key="a")
        first = await claim_one(bench.store)
        bench.table.insert(key="b")
        assert first.key == "a"
        assert (await claim_one(bench.other)).key == "b"

    @pytest.mark.parametrize("by", ["other", "store"])
    async def test_a_key_with_a_row_in_flight_is_left_alone(self, bench: Bench, by: str) -> None:
        bench.table.fill(3, key="k")
        assert len(await bench.store.claim(1)) == 1
        assert await claimed_ids(getattr(bench, by)) == []

    async def test_the_next_row_is_free_when_the_first_is_delivered(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k") for _ in range(2)]
        await deliver(bench.store, *await bench.store.claim(1))
        assert await claimed_ids(bench.other) == ids[1:]

    async def test_a_dead_row_frees_its_key(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k") for _ in range(2)]
        await settle(bench.store, Dead("no"), *await bench.store.claim(1))
        assert await claimed_ids(bench.other) == ids[1:]

    @pytest.mark.parametrize("outcome", [Retry(3600, "no"), Released()], ids=["retry", "released"])
    async def test_a_row_that_went_back_goes_first_again(self, bench: Bench, outcome: Outcome) -> None:
        ids = [bench.table.insert(key="k") for _ in range(3)]
        await settle(bench.store, outcome, *await bench.store.claim(1))
        bench.table.change(ids[0], due=-1)
        assert await claimed_ids(bench.other) == ids

    async def test_a_row_that_waits_for_its_retry_holds_its_key_back(self, bench: Bench) -> None:
        bench.table.fill(2, key="k")
        await settle(bench.store, Retry(3600, "no"), *await bench.store.claim(1))
        assert await claimed_ids(bench.store) == []

    async def test_a_first_row_that_is_delayed_holds_its_key_back(self, bench: Bench) -> None:
        bench.table.insert(key="k", due=3600)
        bench.table.insert(key="k", due=-3600)
        assert await claimed_ids(bench.store) == []

    async def test_a_run_ends_before_a_row_that_is_not_due(self, bench: Bench) -> None:
        first = bench.table.insert(key="k")
        bench.table.insert(key="k", due=3600)
        bench.table.insert(key="k")
        assert await claimed_ids(bench.store) == [first]

    async def test_a_run_ends_before_a_row_that_somebody_holds_locked(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k") for _ in range(3)]
        with bench.table.open() as transaction:
            transaction.change(ids[1], topic="other")
            assert await claimed_ids(bench.store) == ids[:1]

    async def test_a_first_row_that_somebody_holds_locked_holds_its_key_back(self, bench: Bench) -> None:
        first = bench.table.insert(key="k")
        bench.table.insert(key="k")
        with bench.table.open() as transaction:
            transaction.change(first, topic="other")
            assert await claimed_ids(bench.store) == []

    async def test_finished_rows_between_do_not_end_a_run(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k", state=state) for state in ("pending", "dead", "sent", "pending")]
        assert await claimed_ids(bench.store) == [ids[0], ids[3]]

    async def test_a_lease_that_is_over_still_holds_the_key(self, bench: Bench) -> None:
        bench.table.insert(key="k", state="processing", lease_ends=-1, claim_token="0" * 32)
        bench.table.insert(key="k")
        assert await claimed_ids(bench.store) == []

    async def test_a_row_in_flight_without_a_token_holds_its_key(self, bench: Bench) -> None:
        bench.table.insert(key="k", state="processing", lease_ends=60)
        bench.table.insert(key="k")
        assert await claimed_ids(bench.store) == []

    async def test_a_late_commit_waits_for_the_row_in_flight(self, bench: Bench) -> None:
        with bench.table.open() as transaction:
            early = transaction.insert(key="k")
            bench.table.insert(key="k")
            later = await claim_one(bench.store)
        assert await claimed_ids(bench.other) == []
        await deliver(bench.store, later)
        assert await claimed_soon(bench.other) == [early]

    async def test_a_replayed_row_waits_for_the_row_in_flight(self, bench: Bench) -> None:
        replayed = bench.table.insert(key="k", state="dead")
        bench.table.insert(key="k")
        later = await claim_one(bench.store)
        bench.table.requeue(replayed)
        assert await claimed_ids(bench.other) == []
        await deliver(bench.store, later)
        assert await claimed_soon(bench.other) == [replayed]

    async def test_a_replayed_row_goes_before_the_rows_that_wait(self, bench: Bench) -> None:
        replayed = bench.table.insert(key="k", state="dead")
        waiting = [bench.table.insert(key="k") for _ in range(3)]
        await deliver(bench.store, *await bench.store.claim(1))
        bench.table.requeue(replayed)
        assert await claimed_soon(bench.store) == [replayed, *waiting[1:]]

    async def test_a_released_run_goes_to_another_process_whole(self, bench: Bench) -> None:
        ids = [bench.table.insert(key="k") for _ in range(4)]
        await release(bench.store, *await bench.store.claim(10))
        assert await claimed_ids(bench.other) == ids

    async def test_many_keys_that_wait_do_not_hide_one_that_is_free(self, bench: Bench) -> None:
        for number in range(300):
            bench.table.insert(key=f"waiting {number}", due=3600)
            bench.table.insert(key=f"waiting {number}", due=-60)
        free = bench.table.insert(key="zebra")
        assert await claimed_ids(bench.store) == [free]

    async def test_a_long_queue_of_a_busy_key_does_not_hide_another_key(self, bench: Bench) -> None:
        bench.table.fill(20_000, key="busy", due=-60)
        assert len(await bench.other.claim(1)) == 1
        free = bench.table.insert(key="zebra")
        assert await claimed_ids(bench.store) == [free]
