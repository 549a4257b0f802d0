"""One reconcile: from what is known of a box to what is wanted of it. Pure: the same facts give the same plan.

policy judges each resource and chooses the entries of the configuration; render makes the objects of the agents from
them; status tells each resource how it stands.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from queuebox_api.resources import ConditionType
from queuebox_operator.facts import Defaults, Facts, Manifest, Ref, RefusedAgent, Resource
from queuebox_operator.plan import Plan
from queuebox_operator.policy import box as box_policy
from queuebox_operator.policy import destination, route, source
from queuebox_operator.policy.choice import Asked, choose
from queuebox_operator.policy.shadow import shadows
from queuebox_operator.policy.verdict import Verdict
from queuebox_operator.record import Record, read
from queuebox_operator.render import objects
from queuebox_operator.render.names import holds_config, ref_in, selector_text
from queuebox_operator.status import box as box_status
from queuebox_operator.status import entry as entry_status
from queuebox_operator.status import route as route_status
from queuebox_operator.status.happenings import happenings
from queuebox_operator.status.situation import Situation

_JUDGES: Final = {"Source": source.judge, "Destination": destination.judge, "Route": route.judge}
_EMPTY: Final[tuple[object, ...]] = (None, [], {})
_CONDITIONS: Final = frozenset(map(str, ConditionType))


def plan(facts: Facts, defaults: Defaults, now: str) -> Plan:
    """The whole wanted state of a box. `now` is the time, RFC 3339 in UTC, of conditions that change."""
    members = [it for it in (*facts.sources, *facts.destinations, *facts.routes) if not it.deleting]
    verdicts = {it.ref: _JUDGES[it.ref.kind](it, facts.secrets) for it in members}
    if facts.box is None:
        told = {it.ref: entry_status.without_box(it, verdicts[it.ref], now) for it in members}
        return _with_statuses((), (), members, told)
    if facts.box.deleting:
        return Plan()
    situation = _situated(facts, facts.box, members, verdicts)
    told = _statuses(facts, facts.box, members, situation, now)
    if situation.record is None or situation.choice.frozen or _is_suspended(facts.box):
        return _with_statuses((), (), [facts.box, *members], told)
    apply = objects(facts.box, situation.record, defaults)
    delete = _unwanted(facts.box, situation, facts.owned - {ref_in(manifest) for manifest in apply})
    made = _with_statuses(apply, delete, [facts.box, *members], told)
    return replace(made, new_agent=_new_agent(situation))


def _unwanted(box: Resource, situation: Situation, others: frozenset[Ref]) -> tuple[Ref, ...]:
    """What goes. A configuration stays until no agent of it is left: one that restarts has to find it."""
    return tuple(ref for ref in sorted(others) if situation.rolled_out or not holds_config(ref, box))


def _new_agent(situation: Situation) -> Mapping[str, Any] | None:
    asked, before = situation.asked.of_box.agent, situation.asked.before
    return None if before and before.agent == asked else asked


def _situated(facts: Facts, box: Resource, members: list[Resource], verdicts: Mapping[Ref, Verdict]) -> Situation:
    """The choice, and what the agents get: nothing new while the box is suspended."""
    before = read(facts.programmed, box.ref.namespace)
    asked = Asked(
        box=box.ref,
        of_box=box_policy.judge(box, facts.secrets, _refused_agent(facts, box, before)),
        verdicts=verdicts,
        specs={it.ref: it.spec for it in (box, *members)},
        before=before,
        runs=facts.workload is not None,
        secrets=facts.secrets,
    )
    choice = choose(asked)
    record = before if _is_suspended(box) else choice.record
    return Situation(asked, choice, record, facts.workload, facts.apply_problem, facts.capture_owner)


def _refused_agent(facts: Facts, box: Resource, before: Record | None) -> RefusedAgent | None:
    """Without a last good one to go on with, any edit of the box may be the one that mends it."""
    refused = facts.refused_agent
    if refused is None:
        return None
    stands = before.agent != refused.agent if before else refused.generation == box.generation
    return refused if stands else None


def _statuses(
    facts: Facts, box: Resource, members: list[Resource], situation: Situation, now: str
) -> dict[Ref, dict[str, Any]]:
    selector = selector_text(box, situation.record)
    told = {box.ref: box_status.status(box, situation, facts.report, selector, now)}
    by = _shadows(situation.record)
    for it in members:
        if it.ref.kind == "Route":
            told[it.ref] = route_status.status(it, situation, by, now)
        else:
            told[it.ref] = entry_status.status(it, situation, now)
    return told


def _shadows(record: Record | None) -> Mapping[str, str]:
    if record is None:
        return {}
    return shadows((ref.name, record.entries[ref].content["topicPattern"]) for ref in record.routes())


def _with_statuses(
    apply: tuple[Manifest, ...],
    delete: tuple[Ref, ...],
    resources: list[Resource],
    told: Mapping[Ref, Mapping[str, Any]],
) -> Plan:
    """With the statuses that change, and the happenings that they tell of."""
    changed = [it for it in resources if _is_news(it, told[it.ref])]
    return Plan(
        apply=apply,
        delete=delete,
        statuses={it.ref: told[it.ref] for it in changed},
        happenings=tuple(happening for it in changed for happening in happenings(it, told[it.ref])),
    )


def _is_news(resource: Resource, status: Mapping[str, Any]) -> bool:
    """Whether it says something else than the status so far, and does not speak of an older spec."""
    if resource.status.get("observedGeneration", -1) > resource.generation:
        return False
    return _ours(resource.status) != _ours(status)


def _ours(status: Mapping[str, Any]) -> dict[str, Any]:
    """Without conditions that others add, and without what the API server may show empty or not at all.

    Other fields need no look: the schema has only ours.
    """
    conditions = {it["type"]: it for it in status.get("conditions") or () if it["type"] in _CONDITIONS}
    return {key: value for key, value in {**status, "conditions": conditions}.items() if value not in _EMPTY}


def _is_suspended(box: Resource) -> bool:
    return box.spec.get("suspend") is True
