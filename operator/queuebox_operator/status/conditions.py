"""Conditions as Kubernetes' tools read them: `lastTransitionTime` moves only when `status` does."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import Resource

LONGEST_MESSAGE: Final = 2000
_STUCK: Final = frozenset(
    {
        Reason.INVALID,
        Reason.INVALID_EXPRESSION,
        Reason.UNSUPPORTED,
        Reason.CONFLICT,
    }
)
"""While Ready is false for one of these, waiting is of no use. A rollout that is late may still come to its end."""


class Told(NamedTuple):
    """A condition but for its type."""

    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str

    @property
    def holds(self) -> bool:
        """Whether the status is True."""
        return self.status == "True"


def conditions(resource: Resource, told: Mapping[ConditionType, Told], now: str) -> list[dict[str, Any]]:
    """The list of conditions: what is told, and what follows for a tool that waits."""
    ready = told[ConditionType.READY]
    whole = dict(told)
    if not ready.holds:
        follows = ConditionType.STALLED if ready.reason in _STUCK else ConditionType.RECONCILING
        whole[follows] = Told("True", ready.reason, ready.message)
    before = {it.get("type"): it for it in resource.status.get("conditions") or ()}
    return [_condition(resource, kind, it, before.get(kind, {}), now) for kind, it in whole.items()]


def was_true(resource: Resource, kind: ConditionType) -> bool:
    """Whether the condition holds in the status so far."""
    return any((it.get("type"), it.get("status")) == (kind, "True") for it in resource.status.get("conditions") or ())


def _condition(
    resource: Resource, kind: ConditionType, it: Told, before: Mapping[str, Any], now: str
) -> dict[str, Any]:
    since = before.get("lastTransitionTime") if before.get("status") == it.status else None
    return {
        "type": str(kind),
        "status": it.status,
        "reason": str(it.reason),
        "message": it.message[:LONGEST_MESSAGE],
        "observedGeneration": resource.generation,
        "lastTransitionTime": since or now,
    }
