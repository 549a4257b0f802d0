"""The line of keys to reconcile."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from queuebox_operator.engine.queue import Queue
from queuebox_operator.errors import Conflict
from services.waiting import until

LATER = 3600.0


class Reconciler:
    """Counts its runs by key; each waits until the test lets it go."""

    def __init__(self) -> None:
        self.began: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()
        self.busy: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self.outcome: Callable[[str], float | None] = lambda _: None

    async def __call__(self, key: str) -> float | None:
        self.began[key] += 1
        self.busy[key] += 1
        self.most_at_once[key] = max(self.most_at_once[key], self.busy[key])
        try:
            await self.gate.wait()
            return self.outcome(key)
        finally:
            self.busy[key] -= 1
            self.ended[key] += 1


@asynccontextmanager
async def running(queue: Queue[str]) -> AsyncIterator[None]:
    task = asyncio.create_task(queue.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_key_that_waits_stands_in_line_once() -> None:
    reconcile = Reconciler()
    queue = Queue(reconcile)
    for _ in range(5):
        queue.add("a")
    assert queue.depth == 1
    async with running(queue):
        await until(lambda: reconcile.ended["a"] == 1)
        await until(lambda: queue.depth == 0)
    assert reconcile.began["a"] == 1


async def test_what_is_asked_for_during_a_run_runs_after_it_and_never_beside_it() -> None:
    reconcile = Reconciler()
    reconcile.gate.clear()
    queue = Queue(reconcile)
    async with running(queue):
        queue.add("a")
        await until(lambda: reconcile.began["a"] == 1)
        for _ in range(5):
            queue.add("a")
        reconcile.gate.set()
        await until(lambda: reconcile.ended["a"] == 2)
    assert reconcile.most_at_once["a"] == 1


async def test_different_keys_run_beside_each_other() -> None:
    reconcile = Reconciler()
    reconcile.gate.clear()
    queue = Queue(reconcile, workers=2)
    async with running(queue):
        queue.add("a")
        queue.add("b")
        await until(lambda: reconcile.began.total() == 2)


async def test_a_run_that_asks_for_a_time_is_due_again_then() -> None:
    reconcile = Reconciler()
    delays = iter([0.01, None])
    reconcile.outcome = lambda _: next(delays)
    queue = Queue(reconcile)
    async with running(queue):
        queue.add("a")
        await until(lambda: reconcile.ended["a"] == 2)


@pytest.mark.parametrize("wishes", [(LATER, 0), (0, LATER), (LATER, 0.01), (0.01, LATER)])
async def test_the_earliest_wish_wins(wishes: tuple[float, float]) -> None:
    reconcile = Reconciler()
    queue = Queue(reconcile)
    async with running(queue):
        for delay in wishes:
            queue.add("a", delay)
        await until(lambda: reconcile.ended["a"] == 1)


async def test_a_key_that_fails_is_tried_again_and_the_others_go_on() -> None:
    reconcile = Reconciler()

    def outcome(key: str) -> None:
        if key == "a" and reconcile.began["a"] < 2:
            raise Conflict(409, "Conflict", "somebody else wrote first")

    reconcile.outcome = outcome
    queue = Queue(reconcile, workers=1)
    async with running(queue):
        queue.add("a")
        queue.add("b")
        await until(lambda: reconcile.ended["b"] == 1)
        assert queue.failing == 1
        await until(lambda: reconcile.ended["a"] == 2)
        await until(lambda: queue.failing == 0)


async def test_each_run_is_told_with_its_error() -> None:
    told: list[tuple[str, str]] = []
    reconcile = Reconciler()
    outcomes: Callable[[str], float | None] = {"a": None, "b": None}.__getitem__
    reconcile.outcome = lambda key: outcomes(key) if key == "a" else raising(key)
    queue = Queue(reconcile, lambda key, _, error: told.append((key, type(error).__name__)))
    async with running(queue):
        queue.add("a")
        queue.add("b")
        await until(lambda: len(told) == 2)
    assert sorted(told) == [("a", "NoneType"), ("b", "ZeroDivisionError")]


def raising(_: str) -> None:
    raise ZeroDivisionError


async def test_what_was_cancelled_is_in_line_for_the_next_leader() -> None:
    reconcile = Reconciler()
    reconcile.gate.clear()
    queue = Queue(reconcile, workers=1)
    async with running(queue):
        queue.add("a")
        queue.add("b")
        await until(lambda: reconcile.began["a"] == 1)
    reconcile.gate.set()
    async with running(queue):
        await until(lambda: reconcile.ended["a"] == 2 and reconcile.ended["b"] == 1)


async def test_any_mix_of_wishes_runs_every_key_and_never_twice_at_once() -> None:
    reconcile = Reconciler()
    reconcile.outcome = lambda key: 0.001 if reconcile.began[key] < 3 else None
    queue = Queue(reconcile, workers=3)
    keys = [f"key-{n}" for n in range(20)]
    async with running(queue):
        for turn in range(100):
            queue.add(keys[turn * 7 % 20], turn % 5 / 1000)
        await until(lambda: all(reconcile.ended[key] >= 3 for key in keys))
    assert max(reconcile.most_at_once.values()) == 1
