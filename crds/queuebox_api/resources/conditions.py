"""What a status says of an object: the conditions, and every reason that one can have."""

from enum import StrEnum
from typing import Self


class _Documented(StrEnum):
    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """A text that also says what it means, in one line."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class ConditionType(_Documented):
    """What a condition speaks of."""

    ACCEPTED = "Accepted", "The spec is valid, and this version can do what it asks for."
    RESOLVED_REFS = (
        "ResolvedRefs",
        "Every object that the spec names is there: box, destination, Secrets and their keys.",
    )
    PROGRAMMED = "Programmed", "The ready agents run this spec."
    READY = "Ready", "The summary: what the spec asks for is so."
    RECONCILING = "Reconciling", "True while a change is on its way; otherwise not there."
    STALLED = "Stalled", "True when only an edit helps; otherwise not there."


class Reason(_Documented):
    """Why a condition has its status."""

    PENDING = "Pending", "The operator has not looked at this object yet."
    ACCEPTED = "Accepted", "The spec is valid."
    INVALID = "Invalid", "The spec breaks a rule; the message says where and which. The last good spec goes on running."
    INVALID_EXPRESSION = "InvalidExpression", "An expression does not compile; the message says where and why."
    UNSUPPORTED = "Unsupported", "The spec asks for what this version cannot do yet; the message says what."
    CONFLICT = "Conflict", "The spec is valid alone and collides with what runs or is older; the message says how."
    RESOLVED_REFS = "ResolvedRefs", "Every object that the spec names is there."
    QUEUEBOX_NOT_FOUND = "QueueBoxNotFound", "There is no QueueBox of the name in queueBoxRef in this namespace."
    DESTINATION_NOT_FOUND = "DestinationNotFound", "There is no Destination of the name in destinationRef in this box."
    SECRET_NOT_FOUND = "SecretNotFound", "A Secret that the spec names is not there."
    SECRET_KEY_NOT_FOUND = "SecretKeyNotFound", "A Secret that the spec names lacks the key."
    PROGRAMMED = "Programmed", "The ready agents run this spec."
    LAST_GOOD = "LastGood", "The agents run an earlier spec, because this one is refused, unresolved or suspended."
    NOT_PROGRAMMED = (
        "NotProgrammed",
        "The configuration leaves this object out: it, or what it names, never was valid and resolved.",
    )
    ROLLING_OUT = "RollingOut", "Agents with the new configuration are starting."
    ROLLOUT_FAILED = (
        "RolloutFailed",
        "New agents do not become ready, or cannot be made; those before them go on, and what heals goes on by itself.",
    )
    APPLY_FAILED = "ApplyFailed", "The API server refused an object of the agents; the message is its own."
    BOX_NOT_READY = "BoxNotReady", "The QueueBox of this object is not ready; its own conditions say why."
    AGENTS_UNAVAILABLE = "AgentsUnavailable", "No agent is ready."
    NO_ROUTES = "NoRoutes", "No route is programmed, so that no agent runs: every row would go dead."
    SCALED_TO_ZERO = "ScaledToZero", "spec.agent.replicas is 0: no agent runs, as it is wanted, and rows wait."
    SUSPENDED = "Suspended", "spec.suspend is true: all stays as it is."
    SHADOWED = "Shadowed", "A route that is tested earlier takes every topic of this one; status.shadowedBy names it."
    READY = "Ready", "Messages move as the spec says."
    PROGRESSING = "Progressing", "A change is on its way to the agents."
