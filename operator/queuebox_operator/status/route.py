"""The status of a Route: it also says when another one takes all of its topics."""

from collections.abc import Mapping
from typing import Any

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import Resource
from queuebox_operator.status.conditions import Told, conditions
from queuebox_operator.status.entry import facts
from queuebox_operator.status.situation import Situation


def status(route: Resource, situation: Situation, shadows: Mapping[str, str], now: str) -> dict[str, Any]:
    """The whole status. `shadows` names the Route that covers each shadowed one."""
    told = facts(route, situation)
    by = shadows.get(route.ref.name)
    if by and told[ConditionType.READY].reason == Reason.READY:
        told[ConditionType.READY] = Told(
            "True", Reason.SHADOWED, f"the Route {by} is tested earlier and takes every topic"
        )
    whole: dict[str, Any] = {
        "observedGeneration": route.generation,
        "conditions": conditions(route, told, now),
    }
    return whole | ({"shadowedBy": by} if by else {})
