"""The custom resources that tests apply."""

from collections.abc import Mapping
from typing import Any

from e2e.system import beside

Json = dict[str, Any]
BOX = "shop"
ENTRY = "receiver"
API = "queuebox.dev/v1alpha1"


def namespace(name: str) -> Json:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def secret(name: str, **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def custom(kind: str, name: str, spec: Mapping[str, Any]) -> Json:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}


def queuebox(database: str, **agent: Any) -> Json:
    """A box whose database and user have this name; the password is in the Secret `database`."""
    where = {
        "url": f"postgresql://postgres.{beside.NAMESPACE}:5432/{database}",
        "username": database,
        "passwordSecretRef": {"name": "database", "key": "password"},
    }
    return custom("QueueBox", BOX, {"database": where, "agent": agent})


def destination(path: str, takes: float = 0, **more: Any) -> Json:
    """The receiver, where what comes is kept under `path`; it works on each delivery for so many seconds."""
    http: Json = {"baseUrl": f"http://receiver.{beside.NAMESPACE}:8080", "path": f"/{path}", **more.pop("http", {})}
    headers = {"headers": {"X-Takes": str(takes)}} if takes else {}
    return custom("Destination", ENTRY, {"queueBoxRef": {"name": BOX}, "type": "http", **headers, "http": http, **more})


def route(name: str = ENTRY, pattern: str = "order.**", to: str = ENTRY, **more: Any) -> Json:
    spec = {"queueBoxRef": {"name": BOX}, "topicPattern": pattern, "destinationRef": {"name": to}, **more}
    return custom("Route", name, spec)
