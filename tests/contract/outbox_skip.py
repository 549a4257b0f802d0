"""Rows of a destination that has no room are stepped over, with what stands behind them in their key."""

import pytest

from contract.outbox_store import Bench, claimed_ids

FULL = ["full"]


class SkipRules:
    @pytest.mark.parametrize("key", [None, "k"])
    async def test_a_skipped_row_stays_where_it_is(self, bench: Bench, key: str | None) -> None:
        id_ = bench.table.insert(topic="full", key=key)
        assert await claimed_ids(bench.store, skip=FULL) == []
        assert bench.table.read(id_).state == "pending"
        assert await claimed_ids(bench.store) == [id_]

    async def test_other_rows_without_a_key_are_taken(self, bench: Bench) -> None:
        bench.table.insert(topic="full")
        free = bench.table.insert()
        assert await claimed_ids(bench.store, skip=FULL) == [free]

    async def test_a_key_whose_first_row_is_skipped_is_left_alone(self, bench: Bench) -> None:
        bench.table.insert(topic="full", key="k")
        bench.table.insert(key="k")
        free = bench.table.insert(key="l")
        assert await claimed_ids(bench.store, skip=FULL) == [free]

    async def test_a_run_ends_before_a_skipped_row(self, bench: Bench) -> None:
        first = bench.table.insert(key="k")
        bench.table.insert(topic="full", key="k")
        bench.table.insert(key="k")
        assert await claimed_ids(bench.store, skip=FULL) == [first]

    async def test_several_topics_can_be_skipped(self, bench: Bench) -> None:
        ids = [bench.table.insert(topic=topic) for topic in ("full", "slow", "free")]
        assert await claimed_ids(bench.store, skip=["full", "slow"]) == ids[2:]

    async def test_rows_of_a_topic_are_found_when_it_is_no_longer_skipped(self, bench: Bench) -> None:
        bench.table.fill(30, topic="full")
        free = bench.table.insert()
        assert await claimed_ids(bench.store, skip=FULL) == [free]
        assert len(await bench.store.claim(100)) == 30

    @pytest.mark.parametrize("key", [None, "k", "{}"], ids=["no key", "one key", "many keys"])
    async def test_a_long_queue_of_a_full_destination_does_not_hide_other_rows(
        self, bench: Bench, key: str | None
    ) -> None:
        bench.table.fill(20_000, topic="full", key=key, due=-60)
        free = bench.table.insert(key=None if key is None else "zebra")
        claims = [await claimed_ids(bench.store, skip=FULL) for _ in range(3)]
        assert [free] in claims
