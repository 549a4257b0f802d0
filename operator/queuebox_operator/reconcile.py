"""One reconcile: from what is known of a box to what is wanted of it. Pure: the same facts give the same plan.

policy judges each resource and chooses the entries of the configuration; render makes the objects of the agents from
them; status tells each resource how it stands.
"""

from collections.abc import Mapping
from typing import Any, Final

from queuebox_operator.facts import Defaults, Facts, Manifest, Ref, Resource
from queuebox_operator.plan import Plan
from queuebox_operator.policy import box as box_policy
from queuebox_operator.policy import destination, route, source
from queuebox_operator.policy.choice import Asked, choose
from queuebox_operator.policy.shadow import shadows
from queuebox_operator.policy.verdict import Verdict
from queuebox_operator.record import Record, read
from queuebox_operator.render import objects
from queuebox_operator.render.names import selector_text
from queuebox_operator.status import box as box_status
from queuebox_operator.status import entry as entry_status
from queuebox_operator.status import route as route_status
from queuebox_operator.status.happenings import happenings
from queuebox_operator.status.situation import Situation

_JUDGES: Final = {"Source": source.judge, "Destination": destination.judge, "Route": route.judge}
_EMPTY: Final[tuple[object, ...]] = (None, [], {})


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
    unwanted = sorted(facts.owned - {_ref(manifest) for manifest in apply})
    return _with_statuses(apply, tuple(unwanted), [facts.box, *members], told)


def _situated(facts: Facts, box: Resource, members: list[Resource], verdicts: Mapping[Ref, Verdict]) -> Situation:
    """The choice, and what the agents get: nothing new while the box is suspended."""
    before = read(facts.programmed, box.ref.namespace)
    asked = Asked(
        box=box.ref,
        of_box=box_policy.judge(box, facts.secrets),
        verdicts=verdicts,
        specs={it.ref: it.spec for it in (box, *members)},
        before=before,
        secrets=facts.secrets,
    )
    choice = choose(asked)
    record = before if _is_suspended(box) else choice.record
    return Situation(asked, choice, record, facts.workload, facts.apply_problem)


def _statuses(
    facts: Facts, box: Resource, members: list[Resource], situation: Situation, now: str
) -> dict[Ref, dict[str, Any]]:
    told = {box.ref: box_status.status(box, situation, facts.report, selector_text(box), now)}
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
    return _filled(resource.status) != _filled(status)


def _filled(status: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the API server may show empty or not at all."""
    return {key: value for key, value in status.items() if value not in _EMPTY}


def _is_suspended(box: Resource) -> bool:
    return box.spec.get("suspend") is True


def _ref(manifest: Manifest) -> Ref:
    return Ref(manifest["kind"], manifest["metadata"]["namespace"], manifest["metadata"]["name"])
