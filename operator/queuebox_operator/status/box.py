"""The status of a QueueBox."""

from typing import Any, Final

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import AgentReport, Resource
from queuebox_operator.status.conditions import Told, conditions, was_true
from queuebox_operator.status.entry import SUSPENDED, accepted, failed, resolved
from queuebox_operator.status.situation import SCALED_TO_ZERO, Situation

DIGITS: Final = 2
"""Of a large figure: a status that follows each row would be written all the time."""
FORGOTTEN: Final = (
    "the agents go on; what they run is not recorded any more, so that nothing is changed while a Source, Destination "
    "or Route is not accepted or not resolved"
)
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
        ready = _suspended(programmed, situation)
    elif problem := refused or unresolved:
        ready = failed(problem)
    else:
        ready = _ready(programmed, situation)
    return told | {ConditionType.READY: ready}


def _programmed(box: Resource, situation: Situation) -> Told:
    record, of_box = situation.record, situation.asked.of_box
    if record is None and situation.choice.frozen:
        return Told("False", Reason.LAST_GOOD, FORGOTTEN)
    if record is None:
        why = "it is suspended" if of_box.sections.suspended else "the spec never was valid and resolved"
        return Told("False", Reason.NOT_PROGRAMMED, f"no agent was made, because {why}")
    asked = None if box.ref in situation.choice.refused else of_box.sections.asked
    if not record.box.is_spec_of(box, asked):
        return Told("False", Reason.LAST_GOOD, f"the agents go on with generation {record.box.generation}")
    if of_box.agent != record.agent:
        return Told("False", Reason.LAST_GOOD, "the agents go on with an earlier spec.agent")
    if situation.choice.frozen:
        return Told("False", Reason.LAST_GOOD, "what ran before breaks a rule now, so that nothing is changed")
    # The hash says nothing of images. The one that `spec.agent` names changes the generation; the operator's own
    # changes nothing here, and is noticed when its agents do not come up.
    told = box.status.get("observedGeneration"), box.status.get("configHash")
    same = told == (box.generation, situation.hash)
    stays = same and not situation.problem and was_true(box, ConditionType.PROGRAMMED)
    return situation.runs if situation.rolled_out or stays else situation.rollout()


def _suspended(programmed: Told, situation: Situation) -> Told:
    """What runs stays so; whether it does well is told all the same."""
    if situation.replicas == 0:
        return SUSPENDED
    ready = _ready(situation.runs if programmed.reason == Reason.LAST_GOOD else programmed, situation)
    return SUSPENDED if ready.holds else ready


def _ready(programmed: Told, situation: Situation) -> Told:
    record = situation.record
    if record and not record.runs_agents():
        return Told("False", Reason.NO_ROUTES, "no Route is programmed, so that no agent runs")
    if situation.apply_problem:
        return situation.rollout()
    if not programmed.holds:
        rolls = programmed.reason == Reason.ROLLING_OUT
        return programmed._replace(reason=Reason.PROGRESSING) if rolls else programmed
    if situation.scaled_to_zero:
        return SCALED_TO_ZERO
    if situation.available == 0:
        return Told("False", Reason.AGENTS_UNAVAILABLE, situation.problem or "no agent is ready")
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
