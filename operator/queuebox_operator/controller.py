"""One reconcile: gather what is known of a box, have the wanted state worked out, and write what differs.

Level-triggered: one reconcile hands nothing to the next but what was written, so that equal content is not sent again.
A replica that begins to lead has written nothing yet: it sends each object once, which changes nothing.
"""

import asyncio
import hashlib
import logging
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from queuebox_operator import reconcile
from queuebox_operator.errors import ApiError, Forbidden, Invalid, NotFound
from queuebox_operator.facts import Defaults, Facts, Manifest, Ref
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.events import Events
from queuebox_operator.kube.objects import digest
from queuebox_operator.kube.view import View
from queuebox_operator.plan import Plan
from queuebox_operator.record import canonical
from queuebox_operator.render.names import name_of
from queuebox_operator.reports import Reports
from queuebox_operator.telemetry.logs import about

NAMESPACE_ENDS = "because it is being terminated"
"""In the message of the API server; its reason is that of any other refusal."""

log = logging.getLogger(__name__)


class Written(NamedTuple):
    """An object as it was sent, and as the API server then held it."""

    sent: str
    held: str


class Controller:
    """Has one box at a time reconciled by `reconcile`; several may run at once, for different boxes."""

    def __init__(self, view: View, api: Api, events: Events, reports: Reports, defaults: Defaults) -> None:
        self._view, self._api, self._events, self._reports, self._defaults = view, api, events, reports, defaults
        self._written: dict[Ref, dict[Ref, Written]] = {}
        self._problems: dict[Ref, str] = {}

    async def reconcile(self, box: Ref) -> None:
        """Make the cluster what the box wants it to be. Raises ApiError or NotLeader when that is to be tried again."""
        about(box)
        plan = await self._plan(box)
        try:
            writes = await self._carry_out(box, plan)
            refused = None
        except (Invalid, Forbidden) as error:
            if NAMESPACE_ENDS in str(error):
                log.debug("the namespace ends, and the box with it")
                return
            writes, refused = 1, error
        if writes or self._is_news(box, refused):
            plan = await self._plan(box)  # what was written, or refused, is in the statuses at once
        writes += await self._tell(box, plan)
        if refused:
            raise refused
        if writes:
            log.info("reconciled", extra={"writes": writes})
        if self._view.box(box) is None:
            self._written.pop(box, None)
            self._problems.pop(box, None)

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
        # By name as well: a copy that somebody made of an object of ours has its labels too, and is not ours.
        ours = frozenset(ref for ref in view.owned_by(box) if ref.name == name_of(found))
        return replace(
            members,
            programmed=view.programmed(Ref("ConfigMap", box.namespace, name_of(found)), box),
            workload=view.workload_of(box),
            report=self._reports.latest(box),
            owned=ours,
            apply_problem=self._problems.get(box, ""),
        )

    def _is_news(self, box: Ref, refused: ApiError | None) -> bool:
        before, now = self._problems.get(box, ""), str(refused or "")
        self._problems[box] = now
        return before != now

    async def _carry_out(self, box: Ref, plan: Plan) -> int:
        """How many writes it took."""
        applied = [await self._apply(box, wanted) for wanted in plan.apply]
        for ref in plan.delete:
            log.info("deletes what the box does not want any more", extra={"object": f"{ref.kind}/{ref.name}"})
            held = self._view.owned_by(box).get(ref)
            await self._api.delete(ref, held.uid if held else None)
        return sum(applied) + len(plan.delete)

    async def _apply(self, box: Ref, wanted: Manifest) -> bool:
        """Whether it was sent: unless it was before, and nobody changed what the cluster holds since."""
        ref = Ref(wanted["kind"], box.namespace, wanted["metadata"]["name"])
        sent = hashlib.sha256(canonical(wanted).encode()).hexdigest()
        written = self._written.setdefault(box, {})
        held = self._view.owned_by(box).get(ref)
        if held and written.get(ref) == Written(sent, held.digest):
            return False
        answer = await self._api.apply(wanted)
        written[ref] = Written(sent, digest(answer))
        self._view.wrote(answer)
        return True

    async def _tell(self, box: Ref, plan: Plan) -> int:
        """Write statuses and events. What is gone meanwhile needs none."""
        for ref, status in plan.statuses.items():
            try:
                self._view.wrote(await self._api.apply_status(ref, status))
            except NotFound:
                continue
        facts = self._facts(box)
        members = (*facts.sources, *facts.destinations, *facts.routes, *([facts.box] if facts.box else ()))
        uids = {it.ref: it.uid for it in members}
        for happening in plan.happenings:
            if uid := uids.get(happening.about):
                await self._events.tell(happening, uid)
        return len(plan.statuses) + len(plan.happenings)
