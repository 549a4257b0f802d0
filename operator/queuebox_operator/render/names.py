"""What every object of a box shares: its name, its labels, and who owns it."""

import re
from hashlib import sha256
from typing import Any, Final

from queuebox_api.resources import API_VERSION
from queuebox_operator.facts import Manifest, Ref, Resource
from queuebox_operator.record import Record

AGENT: Final = "queuebox-agent"
NAME_LABEL: Final = "app.kubernetes.io/name"
BOX_LABEL: Final = "queuebox.dev/box"
COMPONENT_LABEL: Final = "app.kubernetes.io/component"
CAPTURE_OWNER: Final = "capture-owner"
HASH_ANNOTATION: Final = "queuebox.dev/config-hash"
LONGEST_STATEFUL_SET_NAME: Final = 52
"""Kubernetes writes it, a hyphen and up to 10 characters into a label of the pods, which holds 63."""


def name_of(box: Resource) -> str:
    """Of every object of the box but the StatefulSet and the configuration."""
    return f"queuebox-{box.ref.name}"


def ref_of(kind: str, box: Resource) -> Ref:
    """The object of that kind: a box has one at most, beside the ConfigMaps with its configurations."""
    name = _stateful_set_name(box) if kind == "StatefulSet" else name_of(box)
    return Ref(kind, box.ref.namespace, name)


def ref_in(manifest: Manifest) -> Ref:
    """The object that a manifest describes."""
    meta = manifest["metadata"]
    return Ref(manifest["kind"], meta["namespace"], meta["name"])


def config_ref(box: Resource, config_hash: str) -> Ref:
    """The ConfigMap with the configuration of that hash."""
    return Ref("ConfigMap", box.ref.namespace, f"{name_of(box)}-{config_hash}")


def holds_config(ref: Ref, box: Resource) -> bool:
    """Whether an object has the name of a ConfigMap with a configuration of the box, of whatever hash."""
    return ref.kind == "ConfigMap" and re.fullmatch(f"{re.escape(name_of(box))}-[0-9a-f]{{16}}", ref.name) is not None


def selector(box: Resource) -> dict[str, str]:
    """The labels by which the agents of a box are found. They cannot be changed later."""
    return {NAME_LABEL: AGENT, BOX_LABEL: box.ref.name}


def capture_owner_selector(box: Resource) -> dict[str, str]:
    """The labels by which the capture owner is found. They cannot be changed later."""
    return selector(box) | {COMPONENT_LABEL: CAPTURE_OWNER}


def selector_text(box: Resource, record: Record | None) -> str:
    """As a scale subresource writes it: the pods that `replicas` counts, which leaves the capture owner out."""
    wanted = [f"{label}={value}" for label, value in selector(box).items()]
    without = [f"{COMPONENT_LABEL}!={CAPTURE_OWNER}"] if record and record.captures() else []
    return ",".join([*wanted, *without])


def labels(box: Resource) -> dict[str, str]:
    """Of every object of the box, and of its pods."""
    return selector(box) | {
        "app.kubernetes.io/instance": box.ref.name,
        "app.kubernetes.io/managed-by": "queuebox-operator",
    }


def manifest(api_version: str, kind: str, box: Resource, name: str = "", **content: Any) -> dict[str, Any]:  # noqa: ANN401  as Kubernetes has it
    """An object of the box: the box owns it, so that it goes when the box goes."""
    owner = {
        "apiVersion": API_VERSION,
        "kind": "QueueBox",
        "name": box.ref.name,
        "uid": box.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "name": name or ref_of(kind, box).name,
        "namespace": box.ref.namespace,
        "labels": labels(box),
        "ownerReferences": [owner],
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}


def _stateful_set_name(box: Resource) -> str:
    end = "-capture"
    if len(name_of(box)) + len(end) > LONGEST_STATEFUL_SET_NAME:
        end = f"-{sha256(box.ref.name.encode()).hexdigest()[:8]}{end}"
    return name_of(box)[: LONGEST_STATEFUL_SET_NAME - len(end)].rstrip("-.") + end
