"""What the agents say of themselves: their management ports are asked, the answers are summed up by box.

Asking has a rhythm of its own and no reconcile ever waits for it: a reconcile reads `latest`, and is asked for only
when that has changed. Whatever listens behind a pod's address is trusted with nothing: time, size, content are bounded.
"""

import asyncio
import logging
import math
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from typing import Final, NamedTuple

import aiohttp
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from queuebox_operator.errors import ApiError
from queuebox_operator.facts import AgentReport, Manifest, Ref
from queuebox_operator.telemetry.metrics import Metrics

PERIOD_SECONDS = 15.0
ANSWER_SECONDS = 2.0
LARGEST_ANSWER = 1 << 20
MOST_AT_ONCE = 16
LONGEST_LINE = 1000
MOST_LINES = 5000
"""Of an answer, and characters of a line: the parser takes seconds for a long list of labels."""
LARGEST_FIGURE = 2.0**53
MOST_DESTINATIONS = 1000
LONGEST_NAME = 253
QUIET_SECONDS = 300.0
"""A destination to which nothing went for so long is idle; until then it is what its last messages made it."""

POD_LABELS: Final = "app.kubernetes.io/name=queuebox-agent,app.kubernetes.io/managed-by=queuebox-operator"
BOX_LABEL: Final = "queuebox.dev/box"
MANAGEMENT_PORT = "management"

PENDING = "queuebox_outbox_messages_pending"
OLDEST = "queuebox_outbox_oldest_pending_age_seconds"
OUTCOMES = "queuebox_outbox_messages_total"
BY_DESTINATION = "queuebox_outbox_destination_messages_total"
_READ = re.compile(rf"^(?:{PENDING}|{OLDEST}|{OUTCOMES}|{BY_DESTINATION})[ {{].{{0,{LONGEST_LINE}}}$", re.MULTILINE)

log = logging.getLogger(__name__)


class Pod(NamedTuple):
    """One agent that can be asked."""

    box: Ref
    uid: str
    address: str
    """Host and port of its management port."""


class Tally(NamedTuple):
    """Messages to a destination since the agent started."""

    success: float = 0.0
    failure: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one agent said."""

    pending: int = 0
    oldest: float = 0.0
    dead: int = 0
    destinations: Mapping[str, Tally] = field(default_factory=dict)


def agents(pods: Iterable[Manifest]) -> Iterator[Pod]:
    """Those of the pods that run, have an address and name their management port."""
    for pod in pods:
        meta, status = pod["metadata"], pod.get("status", {})
        address, box = status.get("podIP", ""), meta.get("labels", {}).get(BOX_LABEL)
        ports = [port for it in pod["spec"]["containers"] for port in it.get("ports") or ()]
        port = next((it["containerPort"] for it in ports if it.get("name") == MANAGEMENT_PORT), None)
        if box and port and address and status.get("phase") == "Running" and "deletionTimestamp" not in meta:
            host = f"[{address}]" if ":" in address else address
            yield Pod(Ref("QueueBox", meta["namespace"], box), meta["uid"], f"{host}:{port}")


def read(exposition: str) -> Answer:
    """The answer in a scrape. Raises ValueError when it is none."""
    pending = dead = 0
    oldest = 0.0
    destinations: dict[str, Tally] = {}
    for sample in _samples(exposition):
        if not 0 <= sample.value <= LARGEST_FIGURE:
            continue
        match sample.name, sample.labels:
            case "queuebox_outbox_messages_pending", _:
                pending = int(sample.value)
            case "queuebox_outbox_oldest_pending_age_seconds", _:
                oldest = sample.value
            case "queuebox_outbox_messages_total", {"status": "dead"}:
                dead = int(sample.value)
            case "queuebox_outbox_destination_messages_total", {"destination": name, "outcome": "success" | "failure"}:
                if len(name) > LONGEST_NAME:
                    continue
                tally = destinations.get(name, Tally())
                destinations[name] = tally._replace(**{sample.labels["outcome"]: sample.value})
            case _:
                continue
    return Answer(pending, oldest, dead, dict(sorted(destinations.items())[:MOST_DESTINATIONS]))


def _samples(exposition: str) -> list[Sample]:
    wanted = "\n".join(line[0] for line in islice(_READ.finditer(exposition), MOST_LINES)) + "\n"
    try:
        return [sample for family in text_string_to_metric_families(wanted) for sample in family.samples]
    except IndexError as error:  # the parser looks beyond the end of some broken lines
        raise ValueError("the answer is no exposition") from error


class Trend:
    """How deliveries to one destination go. Counters only grow, and begin again with each pod."""

    def __init__(self, counted: Mapping[str, Tally], now: float) -> None:
        self._counted = counted
        self._moved = now
        self.state = "Idle"

    def follow(self, counted: Mapping[str, Tally], now: float) -> None:
        """Take in what each pod has counted by now."""
        success = failure = 0.0
        for pod, tally in counted.items():
            before = self._counted.get(pod, Tally())
            success += max(0.0, tally.success - before.success)
            failure += max(0.0, tally.failure - before.failure)
        self._counted = counted
        if success or failure:
            self._moved, self.state = now, "Failing" if failure > success else "Delivering"
        elif now - self._moved >= QUIET_SECONDS:
            self.state = "Idle"


class _Box:
    """What is known of the agents of one box."""

    def __init__(self) -> None:
        self._trends: dict[str, Trend] | None = None
        self.report: AgentReport | None = None

    def heard(self, answers: Mapping[str, Answer], now: float) -> None:
        """Sum up. Pending and oldest age are counted in the database that the agents share, so they are not added."""
        if not answers:
            self.report = None
            return
        self.report = AgentReport(
            pods=len(answers),
            pending=max(it.pending for it in answers.values()),
            dead=sum(it.dead for it in answers.values()),
            oldest_pending_seconds=math.floor(max(it.oldest for it in answers.values())),
            destinations=self._states(answers, now),
        )

    def _states(self, answers: Mapping[str, Answer], now: float) -> dict[str, str]:
        names = sorted({name for answer in answers.values() for name in answer.destinations})
        known = self._trends
        trends = {}
        for name in names:
            counted = {pod: answer.destinations.get(name, Tally()) for pod, answer in answers.items()}
            # The first scrape of a box only says where its counters stand; later, a name that is new began at 0.
            trends[name] = (known or {}).get(name) or Trend({} if known is not None else counted, now)
            trends[name].follow(counted, now)
        self._trends = trends
        return {name: trend.state for name, trend in trends.items()}


class Reports:
    """Asks every agent each PERIOD_SECONDS while `run` runs, and calls `changed` for each box that has other news."""

    def __init__(
        self, pods: Callable[[], Awaitable[Iterable[Manifest]]], changed: Callable[[Ref], None], metrics: Metrics
    ) -> None:
        self._pods, self._changed, self._metrics = pods, changed, metrics
        self._boxes: dict[Ref, _Box] = {}

    def latest(self, box: Ref) -> AgentReport | None:
        """What the agents of the box said last; None when there are none, or none answered."""
        known = self._boxes.get(box)
        return known.report if known else None

    async def run(self) -> None:
        """Until cancelled."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        connector = aiohttp.TCPConnector(limit=MOST_AT_ONCE, force_close=True)
        async with aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "identity"},
            auto_decompress=False,  # a small answer could become a large one before it is counted
        ) as http:
            while True:
                await self._round(http)
                await asyncio.sleep(PERIOD_SECONDS)

    async def _round(self, http: aiohttp.ClientSession) -> None:
        try:
            pods = list(agents(await self._pods()))
        except ApiError as error:
            log.warning("the agents could not be listed", extra={"error": str(error)})
            return
        gate = asyncio.Semaphore(MOST_AT_ONCE)
        answers = await asyncio.gather(*(self._ask(http, gate, pod) for pod in pods))
        by_box: defaultdict[Ref, dict[str, Answer]] = defaultdict(dict)
        for pod, answer in zip(pods, answers, strict=True):
            if answer:
                by_box[pod.box][pod.uid] = answer
        self._hear(by_box)

    def _hear(self, by_box: Mapping[Ref, Mapping[str, Answer]]) -> None:
        for ref in self._boxes.keys() | by_box.keys():
            box = self._boxes.setdefault(ref, _Box())
            before = box.report
            box.heard(by_box.get(ref, {}), time.monotonic())
            if box.report != before:
                self._changed(ref)
            if box.report is None:
                del self._boxes[ref]

    async def _ask(self, http: aiohttp.ClientSession, gate: asyncio.Semaphore, pod: Pod) -> Answer | None:
        answer = None
        # The gate stands before the clock of the request, so that waiting for others is no fault of a pod.
        async with gate:
            with suppress(Exception):  # whatever it answers with, it must not end the leader
                async with http.get(f"http://{pod.address}/metrics", allow_redirects=False) as response:
                    answer = read(await _bounded(response)) if response.status == HTTPStatus.OK else None
        self._metrics.asked("answered" if answer else "failed")
        return answer


async def _bounded(response: aiohttp.ClientResponse) -> str:
    body = await response.content.read(LARGEST_ANSWER + 1)
    while len(body) <= LARGEST_ANSWER and (more := await response.content.read(LARGEST_ANSWER + 1 - len(body))):
        body += more
    if len(body) > LARGEST_ANSWER:
        raise ValueError("the answer is too large")
    return body.decode()
