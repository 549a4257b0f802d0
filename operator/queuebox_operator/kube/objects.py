"""From an object as the API server sends it to what the operator keeps of it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from queuebox_operator.facts import Manifest, Ref, Resource, SecretFact, Workload
from queuebox_operator.kube.kinds import BOX_LABEL, RESOURCES

CONFIG_HASH = "queuebox.dev/config-hash"
NOT_KEPT = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
STUCK = {("Progressing", "False"), ("ReplicaFailure", "True")}
VOLATILE = frozenset({"managedFields", "resourceVersion", "generation"})


@dataclass(frozen=True, slots=True)
class Owned:
    """An object that the operator made, or one that carries its labels."""

    ref: Ref
    uid: str
    box: Ref | None
    """Whose it is, by its label; None without one."""
    digest: str
    """Of all that somebody may have changed: everything but status and bookkeeping."""
    owner: str = ""
    """The uid of the object that controls it; empty without one."""
    workload: Workload | None = None
    data: Mapping[str, str] | None = None
    """Of a ConfigMap."""


Held = Resource | SecretFact | Owned


def ref_of(kind: str, found: Manifest) -> Ref:
    """Lists do not say the kind of their items, so it is told."""
    return Ref(kind, found["metadata"]["namespace"], found["metadata"]["name"])


def version_of(found: Manifest) -> int:
    """Versions of one kind are numbers that grow."""
    return int(found["metadata"]["resourceVersion"])


def held(kind: str, found: Manifest) -> Held:
    """What is kept of an object."""
    if kind == "Secret":
        return secret(found)
    return resource(kind, found) if kind in RESOURCES else owned(kind, found)


def resource(kind: str, found: Manifest) -> Resource:
    """A custom resource."""
    meta = found["metadata"]
    annotations = meta.get("annotations") or {}
    return Resource(
        ref=ref_of(kind, found),
        uid=meta["uid"],
        generation=meta.get("generation", 0),
        created=meta["creationTimestamp"],
        spec=found.get("spec") or {},
        status=found.get("status") or {},
        annotations={name: text for name, text in annotations.items() if name not in NOT_KEPT},
        deleting="deletionTimestamp" in meta,
    )


def secret(found: Manifest) -> SecretFact:
    """A Secret from its metadata."""
    meta = found["metadata"]
    return SecretFact(meta["name"], meta["resourceVersion"], data_keys(meta.get("managedFields") or ()))


def data_keys(managed: Sequence[Mapping[str, Any]]) -> frozenset[str] | None:
    """The names of the keys of a Secret, as field ownership lists them; None when nobody owns anything: not known.

    The API server tracks either all fields of an object or none, so where only others are owned there is no key. An
    emptied Secret of which no other field was ever set looks like one that is not tracked.
    """
    owned = [fields for entry in managed if (fields := entry.get("fieldsV1"))]
    parts = [fields.get(part) or {} for fields in owned for part in ("f:data", "f:stringData")]
    keys = frozenset(key.removeprefix("f:") for part in parts for key in part if key.startswith("f:"))
    return keys if owned else None


def owned(kind: str, found: Manifest) -> Owned:
    """An object of the agents."""
    meta = found["metadata"]
    box = (meta.get("labels") or {}).get(BOX_LABEL)
    owners = [it["uid"] for it in meta.get("ownerReferences") or () if it.get("controller")]
    return Owned(
        ref=ref_of(kind, found),
        uid=meta["uid"],
        box=Ref("QueueBox", meta["namespace"], box) if box else None,
        digest=digest(found),
        owner=next(iter(owners), ""),
        workload=workload(found) if kind in {"Deployment", "StatefulSet"} else None,
        data=found.get("data") or {} if kind == "ConfigMap" else None,
    )


def belongs(found: Manifest, wanted: Manifest) -> bool:
    """Whether an object was made for the box of the wanted one: by its labels, or by its owner."""
    meta, ours = found["metadata"], wanted["metadata"]
    owners = {it["uid"] for it in meta.get("ownerReferences") or ()}
    labelled: bool = ours["labels"].items() <= (meta.get("labels") or {}).items()
    return labelled or any(it["uid"] in owners for it in ours["ownerReferences"])


def digest(found: Manifest) -> str:
    """Equal for equal content, whatever the versions and the status are."""
    content = {key: value for key, value in found.items() if key not in {"status", "metadata", "kind", "apiVersion"}}
    content["metadata"] = {key: value for key, value in found["metadata"].items() if key not in VOLATILE}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def workload(found: Manifest) -> Workload:
    """What the controller of a Deployment or a StatefulSet says of it."""
    status = found.get("status") or {}
    annotations = found["spec"]["template"].get("metadata", {}).get("annotations") or {}
    stuck = [it for it in status.get("conditions") or () if (it["type"], it["status"]) in STUCK]
    return Workload(
        generation=found["metadata"]["generation"],
        observed_generation=status.get("observedGeneration", 0),
        replicas=status.get("replicas", 0),
        updated=status.get("updatedReplicas", 0),
        ready=status.get("readyReplicas", 0),
        available=status.get("availableReplicas", 0),
        config_hash=annotations.get(CONFIG_HASH, ""),
        problem=next((str(it.get("message", "")) for it in stuck), ""),
    )
