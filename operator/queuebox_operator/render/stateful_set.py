"""The StatefulSet: the one agent that owns the capture, on the volume that keeps how far it has read."""

from typing import Any, Final

from queuebox_operator.facts import Defaults, Resource
from queuebox_operator.record import Record
from queuebox_operator.render.deployment import OLD_REPLICA_SETS
from queuebox_operator.render.names import capture_owner_selector, manifest, name_of, selector
from queuebox_operator.render.pod import CAPTURE_VOLUME, template

CLAIM_SIZE: Final = "1Gi"
"""Some kilobytes are written; many storage classes have nothing smaller."""


def stateful_set(box: Resource, record: Record, defaults: Defaults) -> dict[str, Any]:
    """The StatefulSet of a box that captures. But for replicas, template and strategy it cannot be changed later."""
    spec = {
        "replicas": record.capture_owners(),
        "revisionHistoryLimit": OLD_REPLICA_SETS,
        "selector": {"matchLabels": capture_owner_selector(box)},
        "serviceName": name_of(box),
        "podManagementPolicy": "Parallel",  # in order, a pod that never gets ready would never be replaced
        "updateStrategy": {"type": "RollingUpdate"},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
        "template": template(box, record, defaults, owns_capture=True),
        "volumeClaimTemplates": [_claim(box)],
    }
    return manifest("apps/v1", "StatefulSet", box, spec=spec)


def _claim(box: Resource) -> dict[str, Any]:
    return {
        "metadata": {"name": CAPTURE_VOLUME, "labels": selector(box)},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": CLAIM_SIZE}}},
    }
