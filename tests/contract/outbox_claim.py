"""Which rows a claim takes, what it writes and what it returns (spec pages 03 and 30, edge-cases 3.1)."""

import time

import pytest

from contract.outbox_store import Bench, claim_one, claimed_ids, claimed_soon, deliver, release

# As jsonb prints them: what a parser would round, what a printer would escape, and what is large.
PAYLOADS = {
    "huge numbers": '{"big": 123456789012345678901234567890, "small": 0.1000000000000000000001, "float": 1e400}',
    "any Unicode": '{"text": "Zürich \U0001f600 \u200f\u05e2\u05d1 \x7f \\" \\\\ \\u0001 \u2028"}',
    "one mebibyte": '{"blob": "' + "x" * 1_048_576 + '"}',
    "no object": "[1, null, true]",
    "an empty object": "{}",
}


class ClaimRules:
    async def test_a_claim_writes_what_makes_the_row_ours(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        row = await claim_one(bench.store)
        stored = bench.table.read(id_)
        assert (stored.state, stored.claim_token) == ("processing", row.claim.token)
        assert stored.claimed == pytest.approx(0, abs=5)
        assert stored.updated == pytest.approx(0, abs=5)
        assert stored.attempt == 0

    async def test_the_lease_is_the_database_clock_plus_its_length(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        await bench.store.claim(1)
        assert bench.table.read(id_).lease_ends == pytest.approx(bench.lease, abs=5)

    async def test_the_row_says_when_its_lease_may_be_over(self, bench: Bench) -> None:
        bench.table.insert()
        before = time.monotonic()
        row = await claim_one(bench.store)
        assert before <= row.lease_ends - bench.lease <= time.monotonic()

    async def test_the_row_has_every_column_that_a_delivery_needs(self, bench: Bench) -> None:
        id_ = bench.table.insert(
            topic="order.paid", key="k", aggregate_type="order", attempt=2, max_attempts=7, sequence=4_000_000_000
        )
        row = await claim_one(bench.store)
        assert (row.claim.id, row.topic, row.key, row.aggregate_type) == (id_, "order.paid", "k", "order")
        assert (row.attempt, row.max_attempts, row.sequence) == (2, 7, 4_000_000_000)

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    async def test_the_payload_is_the_text_that_the_database_prints(self, bench: Bench, payload: str) -> None:
        id_ = bench.table.insert(payload=payload)
        assert (await claim_one(bench.store)).payload == bench.table.read(id_).payload

    async def test_numbers_keep_every_digit(self, bench: Bench) -> None:
        bench.table.insert(payload='{"n": 123456789012345678901234567890.10}')
        assert (await claim_one(bench.store)).payload == '{"n": 123456789012345678901234567890.10}'

    async def test_headers_are_the_text_that_the_database_prints(self, bench: Bench) -> None:
        bench.table.insert(headers='{"X-Tenant":"acme","n":[1]}')
        assert (await claim_one(bench.store)).headers == '{"n": [1], "X-Tenant": "acme"}'

    @pytest.mark.parametrize("key", [None, ""])
    async def test_rows_without_a_key_are_claimed_side_by_side(self, bench: Bench, key: str | None) -> None:
        bench.table.insert(key=key)
        bench.table.insert(key=key)
        assert [row.key for row in await bench.store.claim(10)] == [None, None]

    @pytest.mark.parametrize("state", ["processing", "sent", "dead"])
    async def test_only_pending_rows_are_claimed(self, bench: Bench, state: str) -> None:
        bench.table.insert(state=state, lease_ends=60)
        assert await claimed_ids(bench.store) == []

    @pytest.mark.parametrize("key", [None, "k"])
    async def test_a_row_is_not_claimed_before_it_is_due(self, bench: Bench, key: str | None) -> None:
        id_ = bench.table.insert(key=key, due=3600)
        assert await claimed_ids(bench.store) == []
        bench.table.change(id_, due=-1)
        assert await claimed_soon(bench.store) == [id_]

    @pytest.mark.parametrize("key", [None, "k"])
    async def test_due_means_by_the_database_clock(
        self, bench: Bench, key: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bench.table.insert(key=key, due=1800)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 3600)
        assert await claimed_ids(bench.store) == []

    async def test_a_claim_takes_no_more_than_its_limit(self, bench: Bench) -> None:
        bench.table.fill(5)
        bench.table.fill(5, key="k")
        assert len(await bench.store.claim(3)) == 3

    async def test_several_claims_take_every_row_once(self, bench: Bench) -> None:
        bench.table.fill(7)
        claimed = [id_ for _ in range(4) for id_ in await claimed_ids(bench.store, 2)]
        assert len(claimed) == len(set(claimed)) == 7

    async def test_the_oldest_row_comes_first(self, bench: Bench) -> None:
        ids = [bench.table.insert(key=key, due=due) for key, due in [(None, -1), ("b", -3), (None, -4), ("a", -2)]]
        assert await claimed_ids(bench.store) == [ids[2], ids[1], ids[3], ids[0]]

    async def test_rows_of_one_time_come_by_sequence(self, bench: Bench) -> None:
        with bench.table.open() as transaction:
            ids = [transaction.insert(due=-1) for _ in range(3)]
        assert await claimed_ids(bench.store) == ids

    async def test_the_oldest_rows_are_taken_when_not_all_fit(self, bench: Bench) -> None:
        bench.table.fill(20, due=-1)
        old = bench.table.insert(due=-5)
        assert (await claimed_ids(bench.store, 4))[0] == old

    async def test_a_claimed_row_is_left_alone_by_others(self, bench: Bench) -> None:
        bench.table.insert()
        assert await claimed_ids(bench.store)
        assert await claimed_ids(bench.other) == []

    async def test_each_claim_has_a_token_of_its_own(self, bench: Bench) -> None:
        bench.table.insert()
        first = await claim_one(bench.store)
        await release(bench.store, first)
        assert (await claim_one(bench.store)).claim.token != first.claim.token

    async def test_a_row_that_somebody_holds_locked_is_stepped_over(self, bench: Bench) -> None:
        locked, free = bench.table.insert(), bench.table.insert()
        with bench.table.open() as transaction:
            transaction.change(locked, topic="other")
            assert await claimed_ids(bench.store) == [free]
        assert await claimed_soon(bench.store) == [locked]

    async def test_a_row_that_was_changed_while_it_was_locked_is_not_claimed(self, bench: Bench) -> None:
        id_ = bench.table.insert()
        with bench.table.open() as transaction:
            transaction.change(id_, state="dead")
        assert await claimed_ids(bench.store) == []

    @pytest.mark.parametrize(("many", "few"), [(None, "k"), ("k", None)])
    async def test_a_flood_of_one_kind_does_not_hold_the_other_back(
        self, bench: Bench, many: str | None, few: str | None
    ) -> None:
        bench.table.fill(400, key=many, due=-60)
        late = bench.table.insert(key=few)
        claims = [await bench.store.claim(20) for _ in range(2)]
        assert late in [row.claim.id for rows in claims for row in rows]

    async def test_a_row_that_commits_late_with_an_early_time_is_found(self, bench: Bench) -> None:
        with bench.table.open() as transaction:
            late = transaction.insert(due=-3600)
            bench.table.fill(50)
            await deliver(bench.store, *await bench.store.claim(25))
        found = [*await claimed_soon(bench.store, 25), *await claimed_soon(bench.store, 25)]
        assert late in found
