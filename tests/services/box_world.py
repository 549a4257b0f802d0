"""A box and its resources as a cluster would hold them, with plans carried out as the controller does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import yaml

from queuebox_operator.facts import AgentReport, Defaults, Facts, Ref, RefusedAgent, Resource, SecretFact, Workload
from queuebox_operator.plan import Plan
from queuebox_operator.reconcile import plan

NAMESPACE = "shop"
BOX = Ref("QueueBox", NAMESPACE, "orders")
DEFAULTS = Defaults(image="registry.example.com/queuebox:1.0.0")
DATABASE: dict[str, Any] = {
    "url": "postgresql://db.example.com/shop",
    "username": "queuebox",
    "passwordSecretRef": {"name": "db", "key": "password"},
}
OF_BOX = {"queueBoxRef": {"name": BOX.name}}


def destination(url: str = "https://api.example.com", **more: object) -> dict[str, Any]:
    """The spec of an HTTP Destination."""
    return {**OF_BOX, "type": "http", "http": {"baseUrl": url}, **more}


def route(pattern: str, to: str = "api", **more: object) -> dict[str, Any]:
    """The spec of a Route."""
    return {**OF_BOX, "topicPattern": pattern, "destinationRef": {"name": to}, **more}


def time_of(minute: int) -> str:
    """A moment, as the API server writes it."""
    return f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00Z"


class World:
    """Holds resources, Secrets, the ConfigMap and the workload; `reconcile` plans and carries out."""

    def __init__(self) -> None:
        self.resources: dict[Ref, Resource] = {}
        self.secrets: dict[str, SecretFact] = {}
        self.data: Mapping[str, str] | None = None
        self.configs: dict[str, Mapping[str, str]] = {}
        self.deployment: Mapping[str, Any] = {}
        self.template_hash = ""
        self.replicas = 0
        self.workload: Workload | None = None
        self.report: AgentReport | None = None
        self.owned: frozenset[Ref] = frozenset()
        self.refused_agent: RefusedAgent | None = None
        self.apply_problem = ""
        self.minute = 0

    @classmethod
    def running(cls) -> "World":
        """One box, one Destination `api` and one Route `orders`, rolled out."""
        world = cls()
        world.secret("db", "1", "password")
        world.put("QueueBox", BOX.name, {"database": DATABASE})
        world.put("Destination", "api", destination())
        world.put("Route", "orders", route("order.*"))
        world.settle()
        return world

    def put(self, kind: str, name: str, spec: Mapping[str, Any]) -> Ref:
        """Create or edit a resource."""
        ref = Ref(kind, NAMESPACE, name)
        old = self.resources.get(ref)
        if old is None:
            self.minute += 1
            self.resources[ref] = Resource(ref, f"uid-of-{name}", 1, time_of(self.minute), spec)
        elif old.spec != spec:
            self.resources[ref] = replace(old, generation=old.generation + 1, spec=spec)
        return ref

    def edit(self, ref: Ref, **changes: object) -> None:
        """Change keys of a spec."""
        self.put(ref.kind, ref.name, {**self.resources[ref].spec, **changes})

    def remove(self, ref: Ref) -> None:
        del self.resources[ref]

    def secret(self, name: str, version: str, *keys: str) -> None:
        """Create or change a Secret; without keys nobody knows them."""
        self.secrets[name] = SecretFact(name, version, frozenset(keys) if keys else None)

    def facts(self) -> Facts:
        of = {kind: tuple(it for ref, it in sorted(self.resources.items()) if ref.kind == kind) for kind in KINDS}
        return Facts(
            box=self.resources.get(BOX),
            sources=of["Source"],
            destinations=of["Destination"],
            routes=of["Route"],
            secrets=self.secrets,
            programmed=self.data,
            workload=self.workload,
            report=self.report,
            owned=self.owned,
            refused_agent=self.refused_agent,
            apply_problem=self.apply_problem,
        )

    def plan(self) -> Plan:
        return plan(self.facts(), DEFAULTS, time_of(self.minute))

    def reconcile(self) -> Plan:
        """Plan, and carry it out: a workload that changes is not rolled out yet. Statuses know what was written."""
        self.minute += 1
        first = self.plan()
        for manifest in first.apply:
            if manifest["kind"] == "ConfigMap":
                self._apply_config_map(manifest["metadata"]["name"], manifest["data"])
            if manifest["kind"] == "Deployment":
                self._apply_deployment(manifest["spec"])
        applied = {Ref(it["kind"], NAMESPACE, it["metadata"]["name"]) for it in first.apply}
        self.owned = (self.owned | applied) - frozenset(first.delete)
        for ref in first.delete:
            self.configs.pop(ref.name, None)
        second = self.plan()
        for ref, status in second.statuses.items():
            self.resources[ref] = replace(self.resources[ref], status=status)
        return replace(second, apply=first.apply, delete=first.delete)

    def _apply_config_map(self, name: str, data: Mapping[str, str]) -> None:
        if name == f"queuebox-{BOX.name}":
            self.data = data
        else:
            self.configs[name] = data

    def _apply_deployment(self, spec: Mapping[str, Any]) -> None:
        config_hash = spec["template"]["metadata"]["annotations"]["queuebox.dev/config-hash"]
        if spec != self.deployment or self.workload is None:
            old = self.workload or Workload(0, 0, 0, 0, 0, 0, "")
            self.workload = replace(old, generation=old.generation + 1, config_hash=config_hash)
        self.deployment, self.template_hash, self.replicas = spec, config_hash, spec["replicas"]

    def roll_out(self) -> None:
        """Every agent has the configuration, and is ready."""
        count = self.replicas
        generation = self.workload.generation if self.workload else 1
        self.workload = Workload(generation, generation, count, count, count, count, self.template_hash)

    def settle(self) -> Plan:
        """Reconcile until the agents run what is wanted; the last plan."""
        self.reconcile()
        self.roll_out()
        return self.reconcile()

    def config(self) -> Any:
        """What agents read that start now."""
        return yaml.safe_load(self.file()) if self.deployment else None

    def file(self) -> str:
        volumes = self.deployment["template"]["spec"]["volumes"]
        (name,) = [it["configMap"]["name"] for it in volumes if it["name"] == "queuebox-config"]
        return self.configs[name]["queuebox.yml"]

    def condition(self, ref: Ref, kind: str) -> str:
        """Status and reason."""
        found = {it["type"]: it for it in self.resources[ref].status["conditions"]}
        return f"{found[kind]['status']} {found[kind]['reason']}" if kind in found else ""

    def message(self, ref: Ref, kind: str) -> str:
        found = {it["type"]: it for it in self.resources[ref].status["conditions"]}
        return str(found[kind]["message"])


KINDS = ("QueueBox", "Source", "Destination", "Route")
