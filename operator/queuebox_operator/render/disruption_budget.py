"""The PodDisruptionBudget: a node that is drained takes one agent at a time."""

from typing import Any

from queuebox_operator.facts import Resource
from queuebox_operator.render.names import manifest, selector


def disruption_budget(box: Resource) -> dict[str, Any]:
    """The PodDisruptionBudget of a box with more than one agent: with one, it would hold up every drain."""
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": selector(box)},
        # While the database is away no agent is ready: that must not hold up a drain.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return manifest("policy/v1", "PodDisruptionBudget", box, spec=spec)
