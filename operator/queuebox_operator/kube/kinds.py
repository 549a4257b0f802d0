"""The kinds that the operator reads or writes, and where the API server has them."""

from typing import Final, NamedTuple

from queuebox_api.resources import API_VERSION, KINDS
from queuebox_operator.facts import Ref

MANAGED: Final = "app.kubernetes.io/managed-by=queuebox-operator"
"""The selector of every object that the operator makes."""
BOX_LABEL: Final = "queuebox.dev/box"
RESOURCES: Final = tuple(kind.name for kind in KINDS)
OWNED: Final = ("ServiceAccount", "ConfigMap", "Service", "PodDisruptionBudget", "Deployment", "StatefulSet")


class Place(NamedTuple):
    """Where the objects of a kind are: their `apiVersion` and the plural in paths."""

    version: str
    plural: str

    @property
    def group(self) -> str:
        """Empty for the core group."""
        return self.version.rpartition("/")[0]


PLACES: Final = {kind.name: Place(API_VERSION, kind.plural) for kind in KINDS} | {
    "Secret": Place("v1", "secrets"),
    "ConfigMap": Place("v1", "configmaps"),
    "Service": Place("v1", "services"),
    "ServiceAccount": Place("v1", "serviceaccounts"),
    "Pod": Place("v1", "pods"),
    "Event": Place("v1", "events"),
    "Deployment": Place("apps/v1", "deployments"),
    "StatefulSet": Place("apps/v1", "statefulsets"),
    "PodDisruptionBudget": Place("policy/v1", "poddisruptionbudgets"),
    "Lease": Place("coordination.k8s.io/v1", "leases"),
}


def path_of(kind: str, namespace: str | None) -> str:
    """The path of a kind in one namespace, or in all for None."""
    place = PLACES[kind]
    root = f"/apis/{place.version}" if place.group else f"/api/{place.version}"
    return f"{root}/namespaces/{namespace}/{place.plural}" if namespace else f"{root}/{place.plural}"


def path_to(ref: Ref) -> str:
    """The path of one object."""
    return f"{path_of(ref.kind, ref.namespace)}/{ref.name}"
