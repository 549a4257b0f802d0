"""Renewal, reclaim and the backlog (spec page 03, edge-cases 0.8, 2.17 and 3.3)."""

import pytest

from contract.outbox_store import Bench, claim_one, claimed_ids


class LeaseRules:
    async def test_a_renewal_sets_the_lease_anew_from_the_database_clock(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        row = await claim_one(bench.store)
        bench.table.change(id_, lease_ends=1)
        assert await bench.store.renew([row.claim]) == {id_}
        assert bench.table.read(id_).lease_ends == pytest.approx(bench.lease, abs=5)

    async def test_a_renewal_tells_which_rows_are_still_held(self, bench: Bench) -> None:
        ids = [bench.table.insert() for _ in range(3)]
        rows = await bench.store.claim(10)
        bench.table.change(ids[0], lease_ends=-1)
        assert await bench.store.renew([row.claim for row in rows]) == set(ids[1:])

    async def test_nothing_to_renew_is_nothing_held(self, bench: Bench) -> None:
        assert await bench.store.renew([]) == frozenset()

    @pytest.mark.parametrize("lease_ends", [-0.001, None], ids=["over", "missing"])
    async def test_a_stale_row_comes_back_with_its_attempt(self, bench: Bench, lease_ends: float | None) -> None:
        id_ = bench.table.insert(attempt=2)
        await bench.store.claim(1)
        bench.table.change(id_, lease_ends=lease_ends, updated=-60)
        assert await bench.other.reclaim() == 1
        stored = bench.table.read(id_)
        assert (stored.state, stored.attempt, stored.claimed) == ("pending", 2, None)
        assert stored.updated == pytest.approx(0, abs=5)

    async def test_a_reclaimed_row_is_claimed_under_a_new_token(self, bench: Bench) -> None:
        id_ = bench.table.insert(key="k")
        old = await claim_one(bench.store)
        bench.table.change(id_, lease_ends=-1)
        await bench.other.reclaim()
        new = await claim_one(bench.other)
        assert (new.claim.id, new.claim.token != old.claim.token) == (id_, True)

    @pytest.mark.parametrize("token", [None, "0" * 32], ids=["no token", "a token"])
    async def test_a_live_lease_is_left_alone(self, bench: Bench, token: str | None) -> None:
        bench.table.insert(state="processing", lease_ends=60, claim_token=token)
        assert await bench.store.reclaim() == 0

    @pytest.mark.parametrize("state", ["pending", "sent", "dead"])
    async def test_only_rows_in_flight_come_back(self, bench: Bench, state: str) -> None:
        id_ = bench.table.insert(state=state, lease_ends=-60)
        assert await bench.store.reclaim() == 0
        assert bench.table.read(id_).state == state

    async def test_any_number_of_rows_comes_back_at_once(self, bench: Bench) -> None:
        bench.table.fill(12_000, state="processing", lease_ends=-1)
        assert await bench.store.reclaim() == 12_000

    async def test_a_stale_row_that_is_being_written_is_left_to_the_writer(self, bench: Bench) -> None:
        id_ = bench.table.insert(state="processing", lease_ends=-1)
        with bench.table.open() as transaction:
            transaction.change(id_, state="sent")
            assert await bench.store.reclaim() == 0
        assert await claimed_ids(bench.store) == []


class BacklogRules:
    async def test_an_empty_table_has_no_backlog(self, bench: Bench) -> None:
        backlog = await bench.store.backlog()
        assert (backlog.pending, backlog.oldest_age) == (0, 0.0)

    async def test_rows_that_wait_are_counted_whatever_their_key(self, bench: Bench) -> None:
        for key in (None, "", "k", "k"):
            bench.table.insert(key=key)
        assert (await bench.store.backlog()).pending == 4

    async def test_rows_of_the_future_count(self, bench: Bench) -> None:
        bench.table.insert(due=3600, created=-30)
        backlog = await bench.store.backlog()
        assert backlog.pending == 1
        assert backlog.oldest_age == pytest.approx(30, abs=5)

    @pytest.mark.parametrize("state", ["processing", "sent", "dead"])
    async def test_other_states_do_not_count(self, bench: Bench, state: str) -> None:
        bench.table.insert(state=state, created=-30)
        backlog = await bench.store.backlog()
        assert (backlog.pending, backlog.oldest_age) == (0, 0.0)

    @pytest.mark.parametrize("oldest", [None, "k"])
    async def test_the_age_is_that_of_the_oldest_row(self, bench: Bench, oldest: str | None) -> None:
        bench.table.insert(key=oldest, created=-90)
        bench.table.insert(created=-10)
        bench.table.insert(key="l", created=-20)
        assert (await bench.store.backlog()).oldest_age == pytest.approx(90, abs=5)

    async def test_a_row_created_by_a_clock_ahead_has_no_negative_age(self, bench: Bench) -> None:
        bench.table.insert(created=60)
        assert (await bench.store.backlog()).oldest_age == 0.0

    async def test_a_database_that_answers_is_pinged(self, bench: Bench) -> None:
        await bench.store.ping()
