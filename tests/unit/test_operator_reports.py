import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.telemetry.metrics import Metrics as AgentMetrics
from queuebox_operator import reports
from queuebox_operator.facts import AgentReport, Ref
from queuebox_operator.reports import QUIET_SECONDS, Reports, Tally, Trend, agents, read
from queuebox_operator.telemetry.metrics import Metrics
from services.agent_pods import agent_pod, pod
from services.waiting import until, working_for

BOX = Ref("QueueBox", "shop", "orders")
NOTHING = AgentReport(pods=1, pending=0, dead=0, oldest_pending_seconds=0)


class Asked:
    """Reports about these pods, and the boxes that had news."""

    def __init__(self, pods: Iterable[dict[str, Any]]) -> None:
        self.pods = list(pods)
        self.news: list[Ref] = []
        self.metrics = Metrics("1.2.3")
        self.reports = Reports(self._list, self.news.append, self.metrics)

    async def _list(self) -> list[dict[str, Any]]:
        return self.pods

    def latest(self) -> AgentReport | None:
        return self.reports.latest(BOX)

    def counted(self, result: str) -> bool:
        return f'agent_reports_total{{result="{result}"}} 1.0' in self.metrics.exposition().decode()


@asynccontextmanager
async def asking(*pods: dict[str, Any]) -> AsyncIterator[Asked]:
    asked = Asked(pods)
    running = asyncio.create_task(asked.reports.run())
    try:
        yield asked
    finally:
        running.cancel()
        await asyncio.wait({running})


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "PERIOD_SECONDS", 0.05)


def agent(*, pending: int = 0, age: float = 0, dead: int = 0) -> AgentMetrics:
    metrics = AgentMetrics("1.2.3")
    metrics.pending.set(pending)
    metrics.oldest_pending_age.set(age)
    metrics.outbox_messages("dead").inc(dead)
    return metrics


async def test_the_numbers_of_an_agent_are_read() -> None:
    async with agent_pod(agent(pending=7, age=12.5, dead=2)) as only, asking(only) as asked:
        await until(lambda: bool(asked.news))
        assert asked.latest() == AgentReport(pods=1, pending=7, dead=2, oldest_pending_seconds=12)
        assert asked.news == [BOX]


async def test_rows_that_every_agent_counts_in_the_same_table_are_not_added() -> None:
    first, second = agent(pending=7, age=12, dead=2), agent(pending=8, age=11, dead=1)
    async with agent_pod(first) as one, agent_pod(second, uid="2") as two, asking(one, two) as asked:
        await until(lambda: bool(asked.news))
        assert asked.latest() == AgentReport(pods=2, pending=8, dead=3, oldest_pending_seconds=12)


@pytest.mark.usefixtures("often")
async def test_what_stays_the_same_is_no_news() -> None:
    async with agent_pod(agent()) as only, asking(only) as asked:
        await working_for(0.5)
        assert asked.news == [BOX]
        assert asked.latest() == NOTHING


@pytest.mark.usefixtures("often")
async def test_deliveries_show_in_the_state_of_their_destination() -> None:
    metrics = agent()
    metrics.destination_messages("receiver", "success").inc()
    metrics.destination_messages("broken", "failure").inc()
    async with agent_pod(metrics) as only, asking(only) as asked:
        await until(lambda: bool(asked.news))
        metrics.destination_messages("receiver", "success").inc()
        metrics.destination_messages("broken", "failure").inc()
        states = {"broken": "Failing", "receiver": "Delivering"}
        await until(lambda: (latest := asked.latest()) is not None and latest.destinations == states)


async def test_a_pod_that_does_not_answer_is_left_out_within_its_time() -> None:
    async def silent(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with agent_pod(agent()) as one, agent_pod(silent, uid="2") as two, asking(one, two) as asked:
        began = time.monotonic()
        await until(lambda: bool(asked.news))
        assert time.monotonic() - began < reports.ANSWER_SECONDS + 1
        assert asked.latest() == NOTHING
        assert asked.counted("failed")


@pytest.mark.parametrize("status", [302, 404, 503])
async def test_an_answer_that_is_no_success_is_none(status: int) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Location": "http://127.0.0.1:1/"})

    async with agent_pod(answer) as only, asking(only) as asked:
        await until(lambda: asked.counted("failed"))
        assert asked.latest() is None


async def test_an_endless_answer_is_cut() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"# a comment that never ends\n" * 1000)

    async with agent_pod(endless) as only, asking(only) as asked:
        await until(lambda: asked.counted("failed"))
        assert asked.latest() is None


async def test_an_answer_that_nobody_asked_to_be_compressed_is_not_unpacked() -> None:
    async def packed(_: web.Request) -> web.Response:
        body = gzip.compress(b"queuebox_outbox_messages_pending 1\n" * 1000)
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    async with agent_pod(packed) as only, asking(only) as asked:
        await until(lambda: asked.counted("failed"))
        assert asked.latest() is None


@pytest.mark.usefixtures("often")
async def test_a_box_whose_agents_are_gone_has_no_report() -> None:
    async with agent_pod(agent()) as only, asking(only) as asked:
        await until(lambda: bool(asked.news))
        asked.pods.clear()
        await until(lambda: asked.latest() is None)
        assert asked.news == [BOX, BOX]


@pytest.mark.parametrize(
    "one",
    [
        pod(9090, podIP=""),
        pod(9090, phase="Pending"),
        pod(9090) | {"spec": {"containers": [{"name": "agent"}]}},
        pod(9090) | {"metadata": {"namespace": "shop", "uid": "1", "labels": {}}},
    ],
    ids=["no address", "does not run", "no port", "no box"],
)
def test_a_pod_that_cannot_be_asked_is_left_out(one: dict[str, Any]) -> None:
    assert not list(agents([one]))


def test_an_address_of_version_6_stands_in_brackets() -> None:
    assert [it.address for it in agents([pod(9090, podIP="fd00::1")])] == ["[fd00::1]:9090"]


def test_what_is_no_number_is_not_read() -> None:
    assert read("queuebox_outbox_messages_pending NaN\nqueuebox_outbox_oldest_pending_age_seconds +Inf\n").pending == 0


def test_a_figure_that_a_status_cannot_hold_is_not_read() -> None:
    assert read("queuebox_outbox_messages_pending 1e300\n").pending == 0


def test_a_broken_line_refuses_the_answer() -> None:
    with pytest.raises(ValueError, match="exposition"):
        read('queuebox_outbox_destination_messages_total{, ={"a.b"}')


@pytest.mark.parametrize(
    "lines",
    [
        "queuebox_outbox_messages_total{" + ",".join(map('a{}=""'.format, range(75_000))) + "} 1",
        "queuebox_outbox_messages_pending 1\n" * 30_000,
    ],
    ids=["one long line", "many lines"],
)
def test_a_hostile_answer_is_done_with_soon(lines: str) -> None:
    began = time.process_time()
    read(lines)
    assert time.process_time() - began < 0.5


@given(st.text(alphabet='queuebox_outbox_messages_pending{}="\\,# 1.\n'))
def test_an_answer_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        read(f"queuebox_outbox_messages_pending {text}\nqueuebox_outbox_messages_total{{{text}")


def test_a_destination_that_is_quiet_for_long_is_idle() -> None:
    trend = Trend({}, 0)
    trend.follow({"1": Tally(1, 0)}, 1)
    trend.follow({"1": Tally(1, 0)}, 1 + QUIET_SECONDS / 2)
    assert trend.state == "Delivering"
    trend.follow({"1": Tally(1, 0)}, 1 + QUIET_SECONDS)
    assert trend.state == "Idle"


def test_a_destination_fails_while_most_deliveries_do() -> None:
    trend = Trend({}, 0)
    trend.follow({"1": Tally(1, 2)}, 1)
    assert trend.state == "Failing"
    trend.follow({"1": Tally(3, 3)}, 2)
    assert trend.state == "Delivering"


def test_what_a_pod_counted_before_it_was_seen_is_no_delivery_of_now() -> None:
    trend = Trend({"1": Tally(100, 0)}, 0)
    trend.follow({"1": Tally(100, 0)}, 1)
    assert trend.state == "Idle"
