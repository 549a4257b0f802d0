"""The Deployment: new agents are ready before old ones stop."""

from typing import Any, Final

from queuebox_operator.facts import Defaults, Resource
from queuebox_operator.record import Record
from queuebox_operator.render.names import manifest, selector
from queuebox_operator.render.pod import template

OLD_REPLICA_SETS: Final = 3


def deployment(box: Resource, record: Record, defaults: Defaults) -> dict[str, Any]:
    """The Deployment of a box. `spec.agent.replicas` is the source of its size, also for an autoscaler.

    `progressDeadlineSeconds` keeps its default of ten minutes, though a start may take longer while the database is
    migrated: a bad image is to be told before half an hour is over. So what is late is on its way, and not stalled.
    """
    spec = {
        "replicas": record.replicas(),
        "revisionHistoryLimit": OLD_REPLICA_SETS,
        "selector": {"matchLabels": selector(box)},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": template(box, record, defaults),
    }
    return manifest("apps/v1", "Deployment", box, spec=spec)
