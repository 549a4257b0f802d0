"""Pure builders: the objects that the agents of a box are made of, one file a kind."""

from typing import Any

from queuebox_operator.facts import Defaults, Resource
from queuebox_operator.record import Record
from queuebox_operator.render.configmap import configmap
from queuebox_operator.render.deployment import deployment
from queuebox_operator.render.disruption_budget import disruption_budget
from queuebox_operator.render.service import service
from queuebox_operator.render.service_account import service_account


def objects(box: Resource, record: Record, defaults: Defaults) -> tuple[dict[str, Any], ...]:
    """Every object of a box, what others need first."""
    own_account = record.agent.get("serviceAccountName")
    return (
        *([] if own_account else [service_account(box)]),
        configmap(box, record),
        service(box, record),
        *([disruption_budget(box)] if record.replicas() > 1 else []),
        deployment(box, record, defaults),
    )
