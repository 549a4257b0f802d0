"""The Lease object of the leader's election."""

from typing import Any

from queuebox_operator import errors
from queuebox_operator.facts import Manifest, Ref
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.kinds import PLACES

SECONDS = 2.0
"""Each call is shorter than the time between two renewals, so that several fit before the deadline."""


class LeaseObject:
    """One Lease by its namespace and name. Its `Api` asks nobody for permission to write."""

    def __init__(self, api: Api, namespace: str, name: str) -> None:
        self._api, self._ref = api, Ref("Lease", namespace, name)

    async def read(self) -> dict[str, Any]:
        """The object as it is; it is made when it is not there."""
        try:
            return await self._api.get(self._ref, SECONDS)
        except errors.NotFound:
            meta = {"name": self._ref.name, "namespace": self._ref.namespace}
            wanted = {"apiVersion": PLACES["Lease"].version, "kind": "Lease", "metadata": meta, "spec": {}}
            return await self._api.create(self._ref, wanted, SECONDS)

    async def write(self, wanted: Manifest) -> dict[str, Any]:
        """Replace it; a Conflict when anybody wrote since `wanted` was read."""
        return await self._api.replace(self._ref, wanted, SECONDS)
