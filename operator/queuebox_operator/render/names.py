"""What every object of a box shares: its name, its labels, and who owns it."""

from typing import Any, Final

from queuebox_api.resources import API_VERSION
from queuebox_operator.facts import Resource

AGENT: Final = "queuebox-agent"
NAME_LABEL: Final = "app.kubernetes.io/name"
BOX_LABEL: Final = "queuebox.dev/box"
HASH_ANNOTATION: Final = "queuebox.dev/config-hash"


def name_of(box: Resource) -> str:
    """Of every object of the box."""
    return f"queuebox-{box.ref.name}"


def selector(box: Resource) -> dict[str, str]:
    """The labels by which the agents of a box are found. They cannot be changed later."""
    return {NAME_LABEL: AGENT, BOX_LABEL: box.ref.name}


def selector_text(box: Resource) -> str:
    """As a scale subresource writes it."""
    return ",".join(f"{label}={value}" for label, value in selector(box).items())


def labels(box: Resource) -> dict[str, str]:
    """Of every object of the box, and of its pods."""
    return selector(box) | {
        "app.kubernetes.io/instance": box.ref.name,
        "app.kubernetes.io/managed-by": "queuebox-operator",
    }


def manifest(api_version: str, kind: str, box: Resource, **content: Any) -> dict[str, Any]:  # noqa: ANN401  as Kubernetes has it
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
        "name": name_of(box),
        "namespace": box.ref.namespace,
        "labels": labels(box),
        "ownerReferences": [owner],
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
