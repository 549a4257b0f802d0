"""What is known when a box is reconciled: plain values, gathered by the controller, read by the pure rooms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Manifest = Mapping[str, Any]
"""A Kubernetes object as JSON."""


class Ref(NamedTuple):
    """One object of the cluster."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A custom resource as the cluster holds it, less what the operator does not read."""

    ref: Ref
    uid: str
    generation: int
    created: str
    """RFC 3339, UTC."""
    spec: Mapping[str, Any]
    status: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class SecretFact:
    """A Secret by its metadata: never a value."""

    name: str
    version: str
    """`metadata.resourceVersion`."""
    keys: frozenset[str] | None
    """The names of its keys, as field ownership lists them; None when that is not known."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment or StatefulSet of a box, as its controller reports it."""

    generation: int
    observed_generation: int
    replicas: int
    updated: int
    ready: int
    available: int
    config_hash: str
    """The annotation `queuebox.dev/config-hash` of its pod template; empty when it has none."""
    problem: str = ""
    """The message of a condition that says that it is stuck: ProgressDeadlineExceeded, ReplicaFailure."""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What the agents of a box said last on their management ports, summed up over the pods."""

    pods: int
    """Pods that answered."""
    pending: int
    dead: int
    oldest_pending_seconds: float
    destinations: Mapping[str, str] = field(default_factory=dict)
    """State by destination name: `Delivering`, `Failing` or `Idle`."""


@dataclass(frozen=True, slots=True)
class RefusedAgent:
    """A `spec.agent` that the schema lets through and the API server refused in a workload."""

    agent: Mapping[str, Any]
    generation: int
    """Of the box then."""
    message: str
    """Of the API server."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that one reconcile of a box reads."""

    box: Resource | None
    """None: the resources below name a box that is not there."""
    sources: tuple[Resource, ...] = ()
    destinations: tuple[Resource, ...] = ()
    routes: tuple[Resource, ...] = ()
    secrets: Mapping[str, SecretFact] = field(default_factory=dict)
    """By name; a Secret that is not there has no entry."""
    programmed: Manifest | None = None
    """The `data` of the ConfigMap with the record of the box: the last good entries come from here."""
    workload: Workload | None = None
    """Of the agents that `spec.agent.replicas` counts."""
    capture_owner: Workload | None = None
    report: AgentReport | None = None
    owned: frozenset[Ref] = frozenset()
    """Objects in the cluster that carry the labels of this box."""
    refused_agent: RefusedAgent | None = None
    """What is not to be tried again for now."""
    apply_problem: str = ""
    """What the API server said when it refused the last apply; empty once one went through."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the operator was started with."""

    image: str
    """The agent's image when a box names none."""
