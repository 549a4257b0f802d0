"""Any order of inserts, late commits, claims of three processes, outcomes, lost leases, reclaims and replays keeps the
rules: one token a key in flight, order within a key, writes behind the fence, and nothing lost.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry, Settlement
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from services.outbox_table import DEFAULT_NAMES, PostgresTable
from services.stores import open_pool

PROCESSES = 3
HOUR = 3600
STATE_AFTER = {Delivered: "sent", Dead: "dead", Retry: "pending", Released: "pending"}
KEYS = st.sampled_from([None, "", "a", "a", "b"])
OUTCOMES = st.sampled_from([Delivered(), Delivered(), Dead("no"), Retry(0, "no"), Retry(HOUR, "no"), Released()])
CHOICE = st.integers(0, 999)
PROCESS = st.integers(0, PROCESSES - 1)


@dataclass
class Model:
    """What is known of a row. `live`: its lease is not over."""

    id: UUID
    key: str | None
    due: bool
    state: str = "pending"
    token: UUID | None = None
    live: bool = False


@dataclass
class World:
    """The real thing: one table, the processes, and the loop that runs them."""

    table: PostgresTable
    stores: Sequence[PostgresOutbox]
    runner: asyncio.Runner


class Outbox(RuleBasedStateMachine):
    world: World

    @initialize()
    def empty(self) -> None:
        self.world.table.clear()
        self.rows: list[Model] = []  # in order of their sequence
        self.hidden: list[Model] = []  # inserted, not committed
        self.open = ExitStack()
        self.seen: list[OutboxRow] = []  # every claim that was ever made, so that old tokens are tried too

    @rule(key=KEYS, due=st.sampled_from([True, True, False]))
    def insert(self, key: str | None, due: bool) -> None:  # noqa: FBT001  hypothesis fills it in
        self._insert(self.world.table, key, due=due)

    @rule(key=KEYS)
    @precondition(lambda self: not self.hidden)
    def begin_late(self, key: str | None) -> None:
        transaction = self.open.enter_context(self.world.table.open())
        self.hidden.append(self._insert(transaction, key, due=True))

    @rule()
    @precondition(lambda self: self.hidden)
    def commit_late(self) -> None:
        self.open.close()
        self.hidden.clear()

    @rule(process=PROCESS, limit=st.integers(1, 6))
    def claim(self, process: int, limit: int) -> None:
        claimed = self.world.runner.run(self.world.stores[process].claim(limit))
        assert len(claimed) <= limit
        for key in {row.key for row in claimed} - {None}:
            self._check_run(key, [row for row in claimed if row.key == key])
        for row in claimed:
            model = self._model(row.claim.id)
            assert (model.state, model.due, model in self.hidden) == ("pending", True, False)
            model.state, model.token, model.live = "processing", row.claim.token, True
        self.seen += claimed

    @rule(process=PROCESS, choices=st.lists(st.tuples(CHOICE, OUTCOMES), min_size=1, max_size=4))
    @precondition(lambda self: self.seen)
    def settle(self, process: int, choices: list[tuple[int, Outcome]]) -> None:
        chosen = {row.claim.id: (row, outcome) for row, outcome in ((self._pick(n), o) for n, o in choices)}
        settlements = [Settlement(row.claim, outcome) for row, outcome in chosen.values()]
        wins = {row.claim.id for row, _ in chosen.values() if self._holds(row)}
        assert self.world.runner.run(self.world.stores[process].settle(settlements)) == wins
        for id_ in wins:
            outcome = chosen[id_][1]
            model = self._model(id_)
            model.state = STATE_AFTER[type(outcome)]
            model.due = not (isinstance(outcome, Retry) and outcome.delay)

    @rule(process=PROCESS, choice=CHOICE)
    @precondition(lambda self: self.seen)
    def renew(self, process: int, choice: int) -> None:
        row = self._pick(choice)
        expected = {row.claim.id} if self._holds(row) else set()
        assert self.world.runner.run(self.world.stores[process].renew([row.claim])) == expected

    @rule(choice=CHOICE)
    @precondition(lambda self: self._in("processing"))
    def lose_lease(self, choice: int) -> None:
        model = self._in("processing")[choice % len(self._in("processing"))]
        self.world.table.change(model.id, lease_ends=-1)
        model.live = False

    @rule(process=PROCESS)
    def reclaim(self, process: int) -> None:
        stale = [model for model in self._in("processing") if not model.live]
        assert self.world.runner.run(self.world.stores[process].reclaim()) == len(stale)
        for model in stale:
            model.state = "pending"

    @rule(choice=CHOICE)
    @precondition(lambda self: self._in("sent", "dead"))
    def replay(self, choice: int) -> None:
        model = self._in("sent", "dead")[choice % len(self._in("sent", "dead"))]
        self.world.table.requeue(model.id)
        model.state, model.due = "pending", True

    @rule()
    def pass_an_hour(self) -> None:
        for model in self._in("pending"):
            if not model.due and model not in self.hidden:
                self.world.table.change(model.id, due=-1)
                model.due = True

    @invariant()
    def the_table_is_as_told(self) -> None:
        for model in self.rows:
            if model not in self.hidden:
                stored = self.world.table.read(model.id)
                assert (stored.state, model.state == "processing" and stored.claim_token) == (
                    model.state,
                    model.state == "processing" and model.token,
                )

    @override
    def teardown(self) -> None:
        """Nothing is lost: whatever happened, what still waits can be claimed and delivered."""
        self.open.close()
        self.hidden.clear()
        for model in self._in("processing"):
            self.world.table.change(model.id, lease_ends=-1)
            model.live = False
        self.reclaim(0)
        self.pass_an_hour()
        deadline = 100
        while waiting := self._in("pending"):
            self.claim(deadline % PROCESSES, len(waiting))
            held = [row for row in self.seen if self._holds(row)]
            self.world.runner.run(self.world.stores[0].settle([Settlement(row.claim, Delivered()) for row in held]))
            for row in held:
                self._model(row.claim.id).state = "sent"
            deadline -= 1
            assert deadline, f"{len(waiting)} rows are not found"

    def _insert(self, table: PostgresTable, key: str | None, *, due: bool) -> Model:
        model = Model(table.insert(key=key, due=-1 if due else HOUR), key, due)
        self.rows.append(model)
        return model

    def _check_run(self, key: str | None, run: Sequence[OutboxRow]) -> None:
        """One token; no row of the key in flight before; from the first row on, without a gap."""
        of_key = [model for model in self.rows if model.key == key and model not in self.hidden]
        assert len({row.claim.token for row in run}) == 1
        assert not [model for model in of_key if model.state == "processing"]
        free = list(takewhile(lambda model: model.due, [model for model in of_key if model.state == "pending"]))
        assert [row.claim.id for row in run] == [model.id for model in free[: len(run)]]

    def _holds(self, row: OutboxRow) -> bool:
        model = self._model(row.claim.id)
        return (model.state, model.token, model.live) == ("processing", row.claim.token, True)

    def _in(self, *states: str) -> list[Model]:
        return [model for model in self.rows if model.state in states and model not in self.hidden]

    def _model(self, id_: UUID) -> Model:
        return next(model for model in self.rows if model.id == id_)

    def _pick(self, choice: int) -> OutboxRow:
        return self.seen[choice % len(self.seen)]


@pytest.fixture
def world(database: str) -> Iterator[World]:
    async def open_stores(stack: AsyncExitStack) -> list[PostgresOutbox]:
        pools = [await stack.enter_async_context(open_pool(database)) for _ in range(PROCESSES)]
        return [PostgresOutbox(pool, DEFAULT_NAMES, 600, longest_run=n + 2) for n, pool in enumerate(pools)]

    with asyncio.Runner() as runner, PostgresTable(database) as table:
        stack = AsyncExitStack()
        yield World(table, runner.run(open_stores(stack)), runner)
        runner.run(stack.aclose())


def test_any_history_keeps_the_rules(world: World) -> None:
    machine = type("OutboxHere", (Outbox,), {"world": world})
    few = settings(max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(machine, settings=few)
