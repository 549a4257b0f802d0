"""Boxes as people write them, what a test reads of them, and the controller of Deployments, which does not run."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from services.cluster import Cluster
from services.waiting import until

Json = dict[str, Any]
API_VERSION = "queuebox.dev/v1alpha1"
SECRET = "database-app"
NAME = "shop"


def secret(name: str = SECRET, **values: str) -> Json:
    """As CloudNativePG makes it."""
    data = {"uri": "postgresql://shop:letmein@db:5432/shop", "username": "shop", "password": "letmein"} | values
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def resource(kind: str, name: str, **spec: Any) -> Json:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def box(name: str = NAME, **spec: Any) -> Json:
    return resource("QueueBox", name, **({"database": {"secretRef": {"name": SECRET}}} | spec))


def destination(name: str = "orders", box: str = NAME, url: str = "http://receiver:8080", **spec: Any) -> Json:
    return resource("Destination", name, queueBoxRef={"name": box}, type="http", http={"baseUrl": url}, **spec)


def route(name: str = "orders", box: str = NAME, to: str = "orders", topics: str = "order.**", **spec: Any) -> Json:
    return resource("Route", name, queueBoxRef={"name": box}, topicPattern=topics, destinationRef={"name": to}, **spec)


def source(name: str = "stripe", box: str = NAME) -> Json:
    """What no agent can run yet."""
    http = {"path": "/stripe"}
    paths = {"idempotencyKeyPath": "$.id", "eventTypePath": "$.type"}
    return resource("Source", name, queueBoxRef={"name": box}, type="http", topic="stripe.in", http=http, **paths)


def whole(name: str = NAME, **spec: Any) -> list[Json]:
    """Everything that one box needs to deliver."""
    return [secret(), box(name, **spec), destination(box=name), route(box=name)]


class Namespace:
    """One namespace of a cluster, as a test looks at it."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name

    def apply(self, *objects: Mapping[str, Any]) -> list[Json]:
        return self.cluster.apply(*objects, namespace=self.name)

    def get(self, kind: str, name: str = f"queuebox-{NAME}") -> Json:
        """By default an object of the agents. It has to be there."""
        found = self.cluster.get(kind, name, self.name)
        assert found is not None, f"no {kind} {name}"
        return found

    def there(self, kind: str, name: str = f"queuebox-{NAME}") -> bool:
        return self.cluster.get(kind, name, self.name) is not None

    def config(self) -> Json:
        """The `queuebox.yml` of the agents that start now; empty while there are none."""
        if not self.there("Deployment"):
            return {}
        written: Json = yaml.safe_load(self.get("ConfigMap", self.config_name())["data"]["queuebox.yml"])
        return written

    def config_name(self) -> str:
        """The ConfigMap that the agents mount which start now."""
        volumes = self.get("Deployment")["spec"]["template"]["spec"]["volumes"]
        (name,) = [str(it["configMap"]["name"]) for it in volumes if it["name"] == "queuebox-config"]
        return name

    def configs(self) -> set[str]:
        """The ConfigMaps with a configuration."""
        found = [it["metadata"]["name"] for it in self.cluster.list("ConfigMap", self.name)]
        return {name for name in found if name.startswith(f"queuebox-{NAME}-")}

    def config_hash(self) -> str:
        template = self.get("Deployment")["spec"]["template"]
        value: str = template["metadata"]["annotations"]["queuebox.dev/config-hash"]
        return value

    def condition(self, kind: str, name: str, type_: str) -> Json:
        """One condition that speaks of the present generation; empty while there is none."""
        found = self.get(kind, name)
        conditions = found.get("status", {}).get("conditions", ())
        generation = found["metadata"]["generation"]
        return next((it for it in conditions if it["type"] == type_ and it.get("observedGeneration") == generation), {})

    async def until(self, kind: str, name: str, wanted: str, reason: str = "", seconds: float = 10) -> None:
        """Return when the condition is as `wanted` says: `Ready=True`."""
        type_, status = wanted.split("=")

        def holds() -> bool:
            found = self.condition(kind, name, type_)
            return bool(found) and found["status"] == status and (not reason or found["reason"] == reason)

        await until(holds, seconds, f"{kind} {name}: {wanted} {reason}", every=0.05)

    def run_agents(self, ready: int | None = None, name: str = f"queuebox-{NAME}") -> None:
        """Report the Deployment as its controller does when the pods are there."""
        deployment = self.get("Deployment", name)
        wanted = deployment["spec"]["replicas"]
        ready = wanted if ready is None else ready
        status = {
            "observedGeneration": deployment["metadata"]["generation"], "replicas": wanted, "updatedReplicas": wanted,
            "readyReplicas": ready, "availableReplicas": ready,
        }  # fmt: skip
        meta = {"name": name, "namespace": self.name}
        self.cluster.apply_status(
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "status": status}, manager="deployments"
        )

    async def deliver(self, *objects: Mapping[str, Any]) -> None:
        """Apply a whole box, and return when it is ready."""
        self.apply(*(objects or whole()))
        await self.settle()

    async def settle(self) -> None:
        """Roll the agents out again and again, until the box is ready."""

        def ready() -> bool:
            if self.there("Deployment"):
                self.run_agents()
            return self.condition("QueueBox", NAME, "Ready").get("status") == "True"

        await until(ready, 15, "the box to be ready", every=0.1)

    def versions(self) -> dict[str, str]:
        """The version of every object that a box has, to see whether anything was written."""
        kinds = ("QueueBox", "Source", "Destination", "Route", "ConfigMap", "Deployment", "Service", "ServiceAccount")
        found = [(kind, it["metadata"]) for kind in kinds for it in self.cluster.list(kind, self.name)]
        return {f"{kind}/{meta['name']}": meta["resourceVersion"] for kind, meta in found}


def entries(config_map: Json) -> Json:
    """The last good entries that the operator keeps beside the configuration."""
    kept: Json = json.loads(config_map["data"]["entries.json"])
    return kept
