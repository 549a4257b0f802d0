"""The ServiceAccount of the agents: they never talk to the API server, so it has no token."""

from typing import Any

from queuebox_operator.facts import Resource
from queuebox_operator.render.names import manifest


def service_account(box: Resource) -> dict[str, Any]:
    """The ServiceAccount of a box that names none of its own."""
    return manifest("v1", "ServiceAccount", box, automountServiceAccountToken=False)
