"""Pure builders: the objects that the agents of a box are made of, one file a kind."""

from typing import Any

from queuebox_operator.facts import Defaults, Resource
from queuebox_operator.record import Record
from queuebox_operator.render.configmap import configuration, last_good
from queuebox_operator.render.deployment import deployment
from queuebox_operator.render.disruption_budget import disruption_budget
from queuebox_operator.render.service import service
from queuebox_operator.render.service_account import service_account
from queuebox_operator.render.stateful_set import stateful_set


def objects(box: Resource, record: Record, defaults: Defaults) -> tuple[dict[str, Any], ...]:
    """Every object of a box: what others need first, and the record last."""
    own_account = record.agent.get("serviceAccountName")
    return (
        *([] if own_account else [service_account(box)]),
        configuration(box, record),
        deployment(box, record, defaults),
        service(box, record),
        *([disruption_budget(box)] if record.replicas() + record.capture_owners() > 1 else []),
        *([stateful_set(box, record, defaults)] if record.captures() else []),
        last_good(box, record),
    )
