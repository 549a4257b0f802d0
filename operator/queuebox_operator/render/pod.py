"""The pod of an agent: what runs, what it reads, when it counts as alive, and what it may not do."""

from collections.abc import Mapping
from math import ceil
from typing import Any, Final

from queuebox_operator.facts import Defaults, Resource
from queuebox_operator.record import SECRETS, Record
from queuebox_operator.render.configmap import CONFIG_FILE
from queuebox_operator.render.names import (
    HASH_ANNOTATION,
    capture_owner_selector,
    config_ref,
    labels,
    name_of,
    selector,
)

USER: Final = 10_001
CONFIG: Final = "/etc/queuebox"
RESOURCES: Final = {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "512Mi"}}
LONGEST_MIGRATION: Final = 1800
"""Seconds. The ports open behind the migrations, and killing an agent in the middle of one helps nobody."""
REQUESTS_IN_FLIGHT: Final = 5
CAPTURE_VOLUME: Final = "queuebox-capture"
SPARE: Final = 5
"""Seconds for what an agent does at its end beside waiting."""
_DATA_PORT: Final = 8080
_STARTUP_TIMEOUT_MS: Final = 60_000
_SHUTDOWN_TIMEOUT_MS: Final = 30_000
_KEPT: Final = ("nodeSelector", "tolerations", "affinity", "priorityClassName", "imagePullSecrets")


def ports(record: Record) -> list[tuple[str, int]]:
    """The ports of an agent by name."""
    server = record.config()["server"]
    return [("http", server.get("httpPort", _DATA_PORT)), ("management", server["managementPort"])]


def template(box: Resource, record: Record, defaults: Defaults, *, owns_capture: bool = False) -> dict[str, Any]:
    """The pod template. Every change of it rolls the agents."""
    agent = record.agent
    ours = labels(box) | (capture_owner_selector(box) if owns_capture else {})
    metadata = {
        "labels": {**agent.get("labels", {}), **ours},
        "annotations": {**agent.get("annotations", {}), HASH_ANNOTATION: record.hash()},
    }
    spec = {
        "serviceAccountName": agent.get("serviceAccountName") or name_of(box),
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,  # their variables begin with QUEUEBOX_, as settings do
        "terminationGracePeriodSeconds": _grace_seconds(record),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": _spread(box, agent),
        "containers": [_container(record, defaults, owns_capture=owns_capture)],
        "volumes": [*_volumes(box, record), *agent.get("extraVolumes", ())],
    }
    return {"metadata": metadata, "spec": spec | {key: agent[key] for key in _KEPT if agent.get(key)}}


def _container(record: Record, defaults: Defaults, *, owns_capture: bool) -> dict[str, Any]:
    agent = record.agent
    container = {
        "name": "agent",
        "image": agent.get("image") or defaults.image,
        "args": ["run"],
        "env": [*_environment(record, owns_capture=owns_capture), *agent.get("extraEnv", ())],
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports(record)],
        "resources": agent.get("resources") or RESOURCES,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [*_mounts(record, owns_capture=owns_capture), *agent.get("extraVolumeMounts", ())],
        **_probes(record),
    }
    policy = agent.get("imagePullPolicy")
    return container | ({"imagePullPolicy": policy} if policy else {})


def _environment(record: Record, *, owns_capture: bool) -> list[dict[str, str]]:
    """What is not in the file, and what is for some agents only: a variable wins over the file.

    A file that is named must be there; the default one may be missing.
    """
    agent = record.agent
    variables = {
        "QUEUEBOX_CONFIG_FILE": f"{CONFIG}/{CONFIG_FILE}",
        "LOG_FORMAT": agent.get("logFormat", "json"),
        "LOG_LEVEL": agent.get("logLevel", "INFO"),
    }
    if record.captures() and not owns_capture:
        variables["QUEUEBOX_OUTBOX_CAPTURE_ENABLED"] = "false"
    taken = {it["name"] for it in agent.get("extraEnv", ())}
    return [{"name": name, "value": value} for name, value in variables.items() if name not in taken]


def _probes(record: Record) -> dict[str, Any]:
    """Liveness asks nothing of the database: a restart does not mend one."""
    database = record.box.content["database"].get("startupTimeoutMs", _STARTUP_TIMEOUT_MS)
    attempts = ceil(database / 1000) + LONGEST_MIGRATION
    return {
        "startupProbe": _get("/health/live") | {"periodSeconds": 1, "timeoutSeconds": 3, "failureThreshold": attempts},
        "livenessProbe": _get("/health/live") | {"periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 6},
        "readinessProbe": _get("/health/ready") | {"periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 3},
    }


def _get(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "management", "scheme": "HTTP"}}


def _grace_seconds(record: Record) -> int:
    shutdown: int = record.box.content.get("outbox", {}).get("shutdownTimeoutMs", _SHUTDOWN_TIMEOUT_MS)
    return REQUESTS_IN_FLIGHT + ceil(2 * shutdown / 1000) + SPARE


def _spread(box: Resource, agent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Over nodes and zones as far as it goes, unless the box says otherwise."""
    places: list[Mapping[str, Any]] = agent.get("topologySpreadConstraints") or [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"}
        for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
    ]
    return [{**place, "labelSelector": {"matchLabels": selector(box)}} for place in places]


def _volumes(box: Resource, record: Record) -> list[dict[str, Any]]:
    """Only the keys that are read. Files of Secrets are readable for the group, which fsGroup makes the agent's."""
    file = {"key": CONFIG_FILE, "path": CONFIG_FILE}
    volumes: list[dict[str, Any]] = [
        {"name": "queuebox-config", "configMap": {"name": config_ref(box, record.hash()).name, "items": [file]}},
        {"name": "queuebox-tmp", "emptyDir": {"sizeLimit": "64Mi"}},
    ]
    secrets = [
        {"secret": {"name": secret, "items": [{"key": key, "path": f"{secret}/{key}"} for key in keys]}}
        for secret, keys in record.mounts().items()
    ]
    if secrets:
        volumes.append({"name": "queuebox-secrets", "projected": {"defaultMode": 0o440, "sources": secrets}})
    return volumes


def _mounts(record: Record, *, owns_capture: bool) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [
        {"name": "queuebox-config", "mountPath": CONFIG, "readOnly": True},
        {"name": "queuebox-tmp", "mountPath": "/tmp"},  # noqa: S108  the one folder that may be written
    ]
    if record.mounts():
        mounts.append({"name": "queuebox-secrets", "mountPath": SECRETS, "readOnly": True})
    if owns_capture:
        mounts.append({"name": CAPTURE_VOLUME, "mountPath": record.box.content["outbox"]["capture"]["stateDirectory"]})
    return mounts
