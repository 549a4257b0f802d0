import asyncio
import logging

import pytest

from queuebox_agent.errors import Unavailable
from queuebox_agent.server.health import CHECK_SECONDS, Health, process
from services.waiting import until

SOON = 0.05


class Database:
    """A component whose state a test sets."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = 0

    async def ping(self) -> None:
        self.asked += 1
        if self.error:
            raise self.error


class Stuck:
    """A check that never answers, and that ignores its cancellation when `stubborn`."""

    def __init__(self, *, stubborn: bool = False) -> None:
        self.started = 0
        self.cancelled = 0
        self.release = asyncio.Event()
        self._stubborn = stubborn

    async def ping(self) -> None:
        self.started += 1
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                if not self._stubborn:
                    raise


async def test_a_component_that_answers_is_up() -> None:
    health = Health()
    health.add("database", Database().ping)
    assert (await health.report()).body() == {"status": "healthy", "components": {"database": {"status": "up"}}}


async def test_a_component_that_raises_is_down_and_the_report_unhealthy() -> None:
    database = Database()
    database.error = Unavailable("connection refused")
    health = Health()
    health.add("database", database.ping)
    assert (await health.report()).body() == {"status": "unhealthy", "components": {"database": {"status": "down"}}}


async def test_any_error_counts_as_down() -> None:
    database = Database()
    database.error = ZeroDivisionError()
    health = Health()
    health.add("database", database.ping)
    assert not (await health.report()).healthy


async def test_a_check_that_is_cancelled_from_inside_counts_as_down() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    health = Health()
    health.add("database", cancelled)
    assert not (await health.report()).healthy


async def test_a_component_that_does_not_decide_never_makes_the_report_unhealthy() -> None:
    health = Health()
    health.add("database", Database().ping)
    health.add_flag("outbox-capture", lambda: False, decides=False)
    report = await health.report()
    assert report.healthy
    assert report.components == {"database": True, "outbox-capture": False}


async def test_components_stand_in_the_order_of_their_registration() -> None:
    health = Health()
    for name in ("database", "outbox-poller", "inbox-relay"):
        health.add_flag(name, lambda: True)
    assert list((await health.report()).components) == ["database", "outbox-poller", "inbox-relay"]


@pytest.mark.parametrize("runs", [True, False])
async def test_a_flag_says_whether_its_component_is_up(*, runs: bool) -> None:
    health = Health()
    health.add_flag("outbox-poller", lambda: runs)
    assert (await health.report()).components == {"outbox-poller": runs}


async def test_a_component_that_comes_back_is_up_again() -> None:
    database = Database()
    health = Health()
    health.add("database", database.ping)
    database.error = Unavailable("away")
    await health.report()
    database.error = None
    assert (await health.report()).healthy


def test_a_check_has_three_seconds() -> None:
    assert CHECK_SECONDS == 3.0
    assert Health()._bound == CHECK_SECONDS


async def test_a_check_that_hangs_is_down_within_the_bound_and_cancelled() -> None:
    stuck = Stuck()
    health = Health(SOON)
    health.add("database", stuck.ping)
    report = await asyncio.wait_for(health.report(), 2)
    assert report.components == {"database": False}
    await until(lambda: stuck.cancelled == 1)


async def test_a_check_that_refuses_to_be_cancelled_does_not_hold_up_the_report() -> None:
    stuck = Stuck(stubborn=True)
    health = Health(SOON)
    health.add("database", stuck.ping)
    assert not (await asyncio.wait_for(health.report(), 2)).healthy
    stuck.release.set()


async def test_many_probes_of_a_stuck_component_start_one_check() -> None:
    stuck = Stuck(stubborn=True)
    health = Health(SOON)
    health.add("database", stuck.ping)
    await asyncio.gather(*(health.report() for _ in range(50)))
    await health.report()
    assert stuck.started == 1
    stuck.release.set()


async def test_a_component_that_stops_hanging_is_asked_again() -> None:
    stuck = Stuck(stubborn=True)
    health = Health(SOON)
    health.add("database", stuck.ping)
    await health.report()
    stuck.release.set()
    await until(lambda: health._components[0]._running is not None and health._components[0]._running.done())
    assert (await health.report()).healthy


async def test_components_are_asked_at_the_same_time() -> None:
    health = Health(0.3)
    for number in range(20):
        health.add(f"rabbitmq.{number}", Stuck().ping)
    report = await asyncio.wait_for(health.report(), 3)
    assert set(report.components.values()) == {False}


async def test_one_slow_component_does_not_hide_the_others() -> None:
    health = Health(SOON)
    health.add("database", Stuck().ping)
    health.add_flag("outbox-poller", lambda: True)
    assert (await health.report()).components == {"database": False, "outbox-poller": True}


async def test_a_change_is_logged_once_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "queuebox_agent.server.health")
    database = Database()
    health = Health()
    health.add("database", database.ping)
    database.error = Unavailable("connection refused")
    for _ in range(3):
        await health.report()
    database.error = None
    await health.report()
    said = [(record.levelname, getattr(record, "reason", None)) for record in caplog.records]
    assert said == [("WARNING", "Unavailable: connection refused"), ("INFO", None)]


async def test_a_check_that_hangs_is_logged_as_late(caplog: pytest.LogCaptureFixture) -> None:
    health = Health(SOON)
    health.add("database", Stuck().ping)
    await health.report()
    assert [getattr(record, "reason", None) for record in caplog.records] == ["no answer within 0.05 s"]


def test_the_process_alone_is_reported_without_asking_anyone() -> None:
    assert process(up=True).body() == {"status": "healthy", "components": {"process": {"status": "up"}}}
    assert process(up=False).body() == {"status": "unhealthy", "components": {"process": {"status": "down"}}}
