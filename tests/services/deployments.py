"""The controller of Deployments where none runs: it says at once that all pods of the wanted template are ready."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kubernetes import client, config, watch
from urllib3.exceptions import HTTPError

from services.cluster import Cluster

MANAGED = "app.kubernetes.io/managed-by=queuebox-operator"


@contextmanager
def deployments_roll_out(cluster: Cluster) -> Iterator[None]:
    """While the context lasts, every Deployment of the operator is rolled out as soon as it changes."""
    over = threading.Event()
    with config.new_client_from_config(str(cluster.kubeconfig)) as api:
        apps, stream = client.AppsV1Api(api), watch.Watch()
        thread = threading.Thread(target=_follow, args=(cluster, apps, stream, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            stream.stop()
            thread.join(5)


def _follow(cluster: Cluster, apps: client.AppsV1Api, stream: watch.Watch, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(client.ApiException, HTTPError, OSError):
            listed = apps.list_deployment_for_all_namespaces
            for event in stream.stream(listed, label_selector=MANAGED, timeout_seconds=2):
                if event["type"] in {"ADDED", "MODIFIED"}:
                    _roll_out(cluster, event["raw_object"])


def _roll_out(cluster: Cluster, deployment: dict[str, Any]) -> None:
    wanted, generation = deployment["spec"]["replicas"], deployment["metadata"]["generation"]
    status = {
        "observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted, "readyReplicas": wanted,
        "availableReplicas": wanted,
    }  # fmt: skip
    if deployment.get("status", {}).get("observedGeneration") == generation:
        return
    meta = {name: deployment["metadata"][name] for name in ("name", "namespace")}
    cluster.apply_status(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "status": status}, manager="deployments"
    )
