"""The status of a Source or a Destination, and what a Route shares with them."""

from typing import Any

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import Resource
from queuebox_operator.policy.verdict import Refusal, Verdict
from queuebox_operator.status.conditions import Told, conditions
from queuebox_operator.status.situation import SCALED_TO_ZERO, Situation

ACCEPTED = Told("True", Reason.ACCEPTED, "the spec is valid")
RESOLVED = Told("True", Reason.RESOLVED_REFS, "every object that the spec names is there")
SUSPENDED = Told("True", Reason.SUSPENDED, "spec.suspend is true: all stays as it is")
"""Also when nothing runs: its own spec asks for what is so."""
NOT_LOOKED_AT = "not looked at, because the spec is not accepted"


def status(resource: Resource, situation: Situation, now: str) -> dict[str, Any]:
    """The whole status."""
    told = facts(resource, situation)
    return {"observedGeneration": resource.generation, "conditions": conditions(resource, told, now)}


def without_box(resource: Resource, verdict: Verdict, now: str) -> dict[str, Any]:
    """The whole status of a resource that names a QueueBox which is not there."""
    box = resource.spec.get("queueBoxRef") or {}
    text = f"spec.queueBoxRef.name: there is no QueueBox {box.get('name')} in this namespace"
    missing = Refusal(Reason.QUEUEBOX_NOT_FOUND, text)
    told = {
        ConditionType.ACCEPTED: accepted(verdict.refused),
        ConditionType.RESOLVED_REFS: failed(missing),
        ConditionType.PROGRAMMED: Told("False", Reason.NOT_PROGRAMMED, "no agent belongs to this"),
        ConditionType.READY: failed(verdict.refused or missing),
    }
    return {"observedGeneration": resource.generation, "conditions": conditions(resource, told, now)}


def facts(resource: Resource, situation: Situation) -> dict[ConditionType, Told]:
    """Accepted, ResolvedRefs, Programmed and Ready."""
    choice, ref = situation.choice, resource.ref
    verdict = situation.asked.verdicts[ref]
    refused = verdict.refused or choice.refused.get(ref)
    unresolved = verdict.unresolved or choice.unresolved.get(ref)
    programmed = situation.programmed(resource, None if refused or unresolved else verdict.asked)
    told = {
        ConditionType.ACCEPTED: accepted(refused),
        ConditionType.RESOLVED_REFS: resolved(unresolved, looked_at=verdict.refused is None),
        ConditionType.PROGRAMMED: programmed,
    }
    if verdict.suspended:
        ready = SUSPENDED
    elif problem := refused or unresolved or choice.waiting.get(ref):
        ready = failed(problem)
    else:
        ready = _ready(programmed, situation)
    return told | {ConditionType.READY: ready}


def accepted(refused: Refusal | None) -> Told:
    """Whether the spec is valid, and can be done."""
    return failed(refused) if refused else ACCEPTED


def resolved(unresolved: Refusal | None, *, looked_at: bool = True) -> Told:
    """Whether everything that the spec names is there."""
    if not looked_at:
        return Told("Unknown", Reason.PENDING, NOT_LOOKED_AT)
    return failed(unresolved) if unresolved else RESOLVED


def failed(problem: Refusal) -> Told:
    """The condition that does not hold because of that."""
    return Told("False", problem.reason, problem.message)


def _ready(programmed: Told, situation: Situation) -> Told:
    rolls = programmed.reason == Reason.ROLLING_OUT
    if situation.replicas == 0 and not situation.scaled_to_zero and (programmed.holds or rolls):
        return Told("False", Reason.BOX_NOT_READY, "the QueueBox runs no agent; its own conditions say why")
    if not programmed.holds:
        return programmed._replace(reason=Reason.PROGRESSING) if rolls else programmed
    if situation.scaled_to_zero:
        return SCALED_TO_ZERO
    return Told("True", Reason.READY, "messages move as the spec says")
