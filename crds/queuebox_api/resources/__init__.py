"""The custom resources of queuebox.dev/v1alpha1: models made from those of queuebox.yml, and the way between both."""

from queuebox_api.resources.check import check, gaps
from queuebox_api.resources.conditions import ConditionType, Reason
from queuebox_api.resources.kinds import API_VERSION, GROUP, KINDS, LONGEST_BOX_NAME, VERSION, Kind, kind
from queuebox_api.resources.status import Condition, QueueBoxStatus, RouteStatus, Status
from queuebox_api.resources.translate import Mount, resource_path, secret_refs, to_config

__all__ = [
    "API_VERSION",
    "GROUP",
    "KINDS",
    "LONGEST_BOX_NAME",
    "VERSION",
    "Condition",
    "ConditionType",
    "Kind",
    "Mount",
    "QueueBoxStatus",
    "Reason",
    "RouteStatus",
    "Status",
    "check",
    "gaps",
    "kind",
    "resource_path",
    "secret_refs",
    "to_config",
]
