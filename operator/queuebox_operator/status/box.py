"""The status of a QueueBox."""

from typing import Any, Final

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import AgentReport, Resource
from queuebox_operator.status.conditions import Told, conditions, was_true
from queuebox_operator.status.entry import SUSPENDED, accepted, failed, resolved
from queuebox_operator.status.situation import PROGRAMMED, Situation

DIGITS: Final = 2
"""Of a large figure: a status that follows each row would be written all the time."""
_REPORTED: Final = ("pending", "dead", "oldestPendingSeconds", "destinationStates")


def status(box: Resource, situation: Situation, report: AgentReport | None, selector: str, now: str) -> dict[str, Any]:
    """The whole status."""
    record, workload = situation.record, situation.workload
    whole = {
        "observedGeneration": box.generation,
        "conditions": conditions(box, facts(box, situation), now),
        "replicas": workload.replicas if workload else 0,
        "readyReplicas": workload.ready if workload else 0,
        "selector": selector,
        **{f"{kind.lower()}s": len(record.of(kind)) if record else 0 for kind in ("Source", "Destination", "Route")},
    }
    return whole | ({"configHash": situation.hash} if record else {}) | _reported(box, situation, report)


def facts(box: Resource, situation: Situation) -> dict[ConditionType, Told]:
    """Accepted, ResolvedRefs, Programmed and Ready."""
    verdict = situation.asked.of_box
    refused = verdict.refused or situation.choice.refused.get(box.ref)
    unresolved = verdict.sections.unresolved
    programmed = _programmed(box, situation)
    told = {
        ConditionType.ACCEPTED: accepted(refused),
        ConditionType.RESOLVED_REFS: resolved(unresolved, looked_at=verdict.sections.refused is None),
        ConditionType.PROGRAMMED: programmed,
    }
    if verdict.sections.suspended:
        runs = PROGRAMMED if programmed.reason == Reason.LAST_GOOD else programmed
        ready = _ready(runs, situation)._replace(reason=Reason.SUSPENDED, message=SUSPENDED)
    elif problem := refused or unresolved:
        ready = failed(problem)
    else:
        ready = _ready(programmed, situation)
    return told | {ConditionType.READY: ready}


def _programmed(box: Resource, situation: Situation) -> Told:
    record = situation.record
    if record is None:
        return Told("False", Reason.NOT_PROGRAMMED, "the spec never was valid and resolved")
    of_box = situation.asked.of_box
    asked = None if box.ref in situation.choice.refused else of_box.sections.asked
    if not record.box.is_spec_of(box, asked):
        return Told("False", Reason.LAST_GOOD, f"the agents go on with generation {record.box.generation}")
    if of_box.agent != record.agent:
        return Told("False", Reason.LAST_GOOD, "the agents go on with an earlier spec.agent")
    if situation.choice.frozen:
        return Told("False", Reason.LAST_GOOD, "what ran before breaks a rule now, so that nothing is changed")
    same = box.status.get("configHash") == situation.hash
    if situation.rolled_out or (same and was_true(box, ConditionType.PROGRAMMED)):
        return PROGRAMMED
    return situation.rollout()


def _ready(programmed: Told, situation: Situation) -> Told:
    record, workload = situation.record, situation.workload
    if record and not record.runs_agents():
        return Told("False", Reason.NO_ROUTES, "no Route is programmed, so that no agent runs")
    if record and situation.replicas == 0:
        return Told("False", Reason.SCALED_TO_ZERO, "spec.agent.replicas is 0")
    if situation.apply_problem:
        return situation.rollout()
    if not programmed.holds:
        rolls = programmed.reason == Reason.ROLLING_OUT
        return programmed._replace(reason=Reason.PROGRESSING) if rolls else programmed
    if workload is None or workload.available == 0:
        return Told("False", Reason.AGENTS_UNAVAILABLE, (workload and workload.problem) or "no agent is ready")
    return Told("True", Reason.READY, "messages move as the spec says")


def _reported(box: Resource, situation: Situation, report: AgentReport | None) -> dict[str, Any]:
    """What the agents say; while none of them answers, what they said last."""
    if situation.replicas == 0:
        return {}
    if report is None:
        return {key: box.status[key] for key in _REPORTED if key in box.status}
    states = [{"name": name, "state": state} for name, state in sorted(report.destinations.items())]
    figures = {
        "pending": rounded(report.pending),
        "dead": report.dead,
        "oldestPendingSeconds": rounded(report.oldest_pending_seconds),
    }
    return figures | ({"destinationStates": states} if states else {})


def rounded(figure: float) -> int:
    """Two digits of it, the rest zeros."""
    whole = int(figure)
    return whole if whole < 10**DIGITS else round(whole, DIGITS - len(str(whole)))
