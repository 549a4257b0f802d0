"""What an outcome writes (spec pages 03 and 30, edge-cases 0.1, 0.6 and 3.2)."""

import pytest

from contract.outbox_store import Bench, claim_one, claimed_ids, deliver, release, settle
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry, Settlement


class SettleRules:
    async def test_delivered_changes_nothing_but_state_and_time(self, bench: Bench) -> None:
        id_ = bench.table.insert(attempt=2, last_error="before")
        row = await claim_one(bench.store)
        claimed = bench.table.read(id_)
        bench.table.change(id_, updated=-60)
        await deliver(bench.store, row)
        stored = bench.table.read(id_)
        assert (stored.state, stored.attempt, stored.last_error) == ("sent", 2, "before")
        assert stored.updated == pytest.approx(0, abs=5)
        assert stored.claim_token == claimed.claim_token
        assert stored.claimed is not None
        assert stored.lease_ends == pytest.approx(bench.lease, abs=5)

    async def test_a_retry_is_due_after_its_delay_by_the_database_clock(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        await settle(bench.store, Retry(7.5, "refused"), await claim_one(bench.store))
        assert bench.table.read(id_).due == pytest.approx(7.5, abs=2)

    async def test_a_retry_counts_the_attempt_and_keeps_token_and_lease(self, bench: Bench) -> None:
        id_ = bench.table.insert(attempt=3)
        row = await claim_one(bench.store)
        bench.table.change(id_, updated=-60)
        await settle(bench.store, Retry(1, "refused"), row)
        stored = bench.table.read(id_)
        assert (stored.state, stored.attempt, stored.last_error) == ("pending", 4, "refused")
        assert (stored.claimed, stored.claim_token) == (None, row.claim.token)
        assert stored.lease_ends == pytest.approx(bench.lease, abs=5)
        assert stored.updated == pytest.approx(0, abs=5)

    async def test_a_retry_without_delay_is_due_at_once(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        await settle(bench.store, Retry(0.0, "refused"), await claim_one(bench.store))
        assert await claimed_ids(bench.store) == [id_]

    async def test_a_dead_row_keeps_its_attempt(self, bench: Bench) -> None:
        id_ = bench.table.insert(attempt=5, max_attempts=5)
        await settle(bench.store, Dead("gave up"), await claim_one(bench.store))
        stored = bench.table.read(id_)
        assert (stored.state, stored.attempt, stored.last_error) == ("dead", 5, "gave up")
        assert stored.claimed is None
        assert stored.updated == pytest.approx(0, abs=5)

    async def test_a_released_row_is_as_it_was(self, bench: Bench) -> None:
        id_ = bench.table.insert(attempt=1, last_error="before", due=-30)
        await release(bench.store, await claim_one(bench.store))
        stored = bench.table.read(id_)
        assert (stored.state, stored.attempt, stored.last_error) == ("pending", 1, "before")
        assert stored.due == pytest.approx(-30, abs=5)
        assert stored.claimed is None

    async def test_a_released_row_can_be_claimed_at_once(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        await release(bench.store, await claim_one(bench.store))
        assert await claimed_ids(bench.other) == [id_]

    async def test_outcomes_of_one_batch_are_each_written(self, bench: Bench) -> None:
        ids = [bench.table.insert() for _ in range(4)]
        rows = await bench.store.claim(10)
        outcomes: list[Outcome] = [Delivered(), Retry(60, "later"), Dead("never"), Released()]
        won = await bench.store.settle([Settlement(r.claim, o) for r, o in zip(rows, outcomes, strict=True)])
        assert won == set(ids)
        stored = [bench.table.read(id_) for id_ in ids]
        assert [row.state for row in stored] == ["sent", "pending", "dead", "pending"]
        assert [row.last_error for row in stored] == [None, "later", "never", None]
        assert [row.attempt for row in stored] == [0, 1, 0, 0]

    async def test_a_large_batch_is_written(self, bench: Bench) -> None:
        bench.table.fill(1_000)
        rows = await bench.store.claim(1_000)
        settlements = [Settlement(row.claim, Dead(f"reason {row.sequence}")) for row in rows]
        assert len(await bench.store.settle(settlements)) == 1_000
        assert {bench.table.read(r.claim.id).last_error == f"reason {r.sequence}" for r in rows[::97]} == {True}

    async def test_an_empty_batch_wins_nothing(self, bench: Bench) -> None:
        assert await bench.store.settle([]) == frozenset()

    @pytest.mark.parametrize("reason", ["nul \0 inside", "half a pair \ud83d", "\U0001f600", "", "'; --", "100 %s {x}"])
    async def test_a_reason_of_any_text_is_written(self, bench: Bench, reason: str) -> None:
        ids = [bench.table.insert() for _ in range(2)]
        rows = await bench.store.claim(10)
        won = await bench.store.settle(
            [Settlement(rows[0].claim, Dead(reason)), Settlement(rows[1].claim, Delivered())]
        )
        assert won == set(ids)
        written = bench.table.read(ids[0]).last_error
        assert written == reason.replace("\0", "").replace("\ud83d", "?")
