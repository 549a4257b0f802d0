"""One reconcile: gather what is known of a box, have the wanted state worked out, and write what differs.

Level-triggered: one reconcile hands nothing to the next but what was written, so that equal content is not sent again.
A replica that begins to lead has written nothing yet: it sends each object once, which changes nothing.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import NamedTuple

from queuebox_operator import reconcile
from queuebox_operator.errors import ApiError, Forbidden, Invalid, NotFound
from queuebox_operator.facts import Defaults, Facts, Manifest, Ref, RefusedAgent, Resource
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.events import Events
from queuebox_operator.kube.objects import Owned, belongs, digest
from queuebox_operator.kube.view import View
from queuebox_operator.plan import Plan
from queuebox_operator.record import canonical
from queuebox_operator.render.names import holds_config, ref_in, ref_of
from queuebox_operator.reports import Reports
from queuebox_operator.telemetry.logs import about

NAMESPACE_ENDS = "because it is being terminated"
"""In the message of the API server; its reason is that of any other refusal."""
TRY_AGAIN_SECONDS = 60.0
"""After so long a `spec.agent` that was refused is tried again: what refused it may be a policy that changes."""
WORKLOADS = frozenset({"Deployment", "StatefulSet"})

log = logging.getLogger(__name__)


class Written(NamedTuple):
    """An object as it was sent, and as the API server then held it."""

    sent: str
    held: str


class Blamed(NamedTuple):
    """A `spec.agent` that was refused, and the moment until which it is not tried again."""

    agent: RefusedAgent
    until: float


class Controller:
    """Has one box at a time reconciled by `reconcile`; several may run at once, for different boxes."""

    def __init__(self, view: View, api: Api, events: Events, reports: Reports, defaults: Defaults) -> None:
        self._view, self._api, self._events, self._reports, self._defaults = view, api, events, reports, defaults
        self._written: dict[Ref, dict[Ref, Written]] = {}
        self._problems: dict[Ref, str] = {}
        self._blamed: dict[Ref, Blamed] = {}

    async def reconcile(self, box: Ref) -> float | None:
        """Make the cluster what the box wants it to be, and say when to look again although nothing changes.

        Raises ApiError or NotLeader when it is to be tried again.
        """
        about(box)
        self._forgive(box)
        plan = await self._plan(box)
        try:
            writes = await self._carry_out(box, plan)
            refused = None
        except (Invalid, Forbidden) as error:
            if NAMESPACE_ENDS in str(error):
                log.debug("the namespace ends, and the box with it")
                return None
            writes, refused = 1, error
        news = self._is_news(box, refused)
        if writes or news:
            plan = await self._plan(box)  # what was written, or refused, is in the statuses at once
        writes += await self._tell(box, plan)
        if refused:
            raise refused
        if writes:
            log.info("reconciled", extra={"writes": writes})
        if self._view.box(box) is None:
            for known in (self._written, self._problems, self._blamed):
                known.pop(box, None)
        return self._seconds_left(box)

    def _forgive(self, box: Ref) -> None:
        if self._seconds_left(box) == 0:
            self._blamed.pop(box)

    def _seconds_left(self, box: Ref) -> float | None:
        """Until a refused `spec.agent` is tried again; None when none was refused."""
        blamed = self._blamed.get(box)
        return max(0.0, blamed.until - time.monotonic()) if blamed else None

    async def _plan(self, box: Ref) -> Plan:
        """In a thread: an expression that is slow to compile must not hold up the renewal of the lease."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return await asyncio.to_thread(reconcile.plan, self._facts(box), self._defaults, now)

    def _facts(self, box: Ref) -> Facts:
        view, found = self._view, self._view.box(box)
        members = Facts(
            box=found,
            sources=view.sources_of(box),
            destinations=view.destinations_of(box),
            routes=view.routes_of(box),
            secrets=view.secrets_of(box),
        )
        if found is None:
            return members
        blamed = self._blamed.get(box)
        return replace(
            members,
            programmed=_record(view.owned_by(box).get(ref_of("ConfigMap", found)), found),
            workload=view.workload(ref_of("Deployment", found), box),
            capture_owner=view.workload(ref_of("StatefulSet", found), box),
            report=self._reports.latest(box),
            owned=frozenset(it.ref for it in view.owned_by(box).values() if _is_of(it, found)),
            refused_agent=blamed.agent if blamed else None,
            apply_problem=self._problems.get(box, ""),
        )

    def _is_news(self, box: Ref, refused: ApiError | None) -> bool:
        before, now = self._problems.get(box, ""), str(refused or "")
        self._problems[box] = now
        return before != now

    async def _carry_out(self, box: Ref, plan: Plan) -> int:
        """How many writes it took."""
        await self._refuse_to_take(box, plan)
        applied = [await self._applied(box, wanted, plan.new_agent) for wanted in plan.apply]
        for ref in plan.delete:
            log.info("deletes what the box does not want any more", extra={"object": f"{ref.kind}/{ref.name}"})
            held = self._view.owned_by(box).get(ref)
            await self._api.delete(ref, held.uid if held else None)
        return sum(applied) + len(plan.delete)

    async def _applied(self, box: Ref, wanted: Manifest, new_agent: Manifest | None) -> bool:
        """Whether it was sent: unless it was before, and nobody changed what the cluster holds since."""
        ref = ref_in(wanted)
        sent = hashlib.sha256(canonical(wanted).encode()).hexdigest()
        written = self._written.setdefault(box, {})
        held = self._view.owned_by(box).get(ref)
        if held and written.get(ref) == Written(sent, held.digest):
            return False
        if held and wanted.get("immutable") and held.data != wanted["data"]:
            await self._api.delete(ref, held.uid)  # somebody put another one there: only a new one mends that
        try:
            answer = await self._api.apply(wanted)
        except (Invalid, Forbidden) as error:
            if ref.kind in WORKLOADS and new_agent is not None:
                self._blame(box, new_agent, str(error))
            raise
        written[ref] = Written(sent, digest(answer))
        self._view.wrote(answer)
        return True

    async def _refuse_to_take(self, box: Ref, plan: Plan) -> None:
        """Invalid, before anything is written, when what is not ours has a name that is wanted.

        The view only holds what has our labels, so of what it does not hold the API server is asked.
        """
        for ref, wanted in ((ref_in(wanted), wanted) for wanted in plan.apply):
            if ref in self._view.owned_by(box):
                continue
            for found in await self._api.list(ref.kind, ref.namespace, name=ref.name):
                if not belongs(found, wanted):
                    text = f"the {ref.kind} {ref.name} exists and belongs to somebody else"
                    raise Invalid(HTTPStatus.CONFLICT, "AlreadyExists", text)

    def _blame(self, box: Ref, agent: Manifest, message: str) -> None:
        if found := self._view.box(box):
            until = time.monotonic() + TRY_AGAIN_SECONDS
            self._blamed[box] = Blamed(RefusedAgent(agent, found.generation, message), until)

    async def _tell(self, box: Ref, plan: Plan) -> int:
        """Write statuses and events. What is gone meanwhile needs none, and one that is refused holds up no other."""
        refused: list[ApiError] = []
        for ref, status in plan.statuses.items():
            with _noted(refused):
                self._view.wrote(await self._api.apply_status(ref, status))
        facts = self._facts(box)
        members = (*facts.sources, *facts.destinations, *facts.routes, *([facts.box] if facts.box else ()))
        uids = {it.ref: it.uid for it in members}
        for happening in plan.happenings:
            if uid := uids.get(happening.about):
                with _noted(refused):
                    await self._events.tell(happening, uid)
        if refused:
            raise refused[0]
        return len(plan.statuses) + len(plan.happenings)


@contextmanager
def _noted(refused: list[ApiError]) -> Iterator[None]:
    """Go on after a refusal, and after finding that the object is gone or goes with its namespace."""
    try:
        yield
    except NotFound:
        pass
    except (Invalid, Forbidden) as error:
        if NAMESPACE_ENDS not in str(error):
            refused.append(error)


def _record(held: Owned | None, box: Resource) -> Manifest | None:
    """What was recorded for this very box, and not for one of the same name that was deleted."""
    return held.data if held and held.owner in {"", box.uid} else None


def _is_of(held: Owned, box: Resource) -> bool:
    """By name as well: a copy that somebody made of an object of ours has its labels too, and is not ours."""
    if holds_config(held.ref, box):
        return held.owner == box.uid
    return held.ref == ref_of(held.ref.kind, box)
