"""The capture owner as an API server takes it, and as the operator takes it away."""

from collections.abc import Mapping
from typing import Any

import pytest

from queuebox_operator.render import objects
from services.box_world import DEFAULTS
from services.boxes import NAME, Namespace
from services.capture import STATE, box, capturing
from services.cluster import Cluster
from services.operators import operator
from services.waiting import until

pytestmark = pytest.mark.kubernetes


def rendered(namespace: str, name: str = "orders", replicas: int = 1) -> tuple[Mapping[str, Any], ...]:
    return objects(box(name, namespace), capturing(replicas), DEFAULTS)


def owner_of(namespace: str, name: str = "orders", replicas: int = 1) -> Mapping[str, Any]:
    (owner,) = [it for it in rendered(namespace, name, replicas) if it["kind"] == "StatefulSet"]
    return owner


def test_an_api_server_takes_all_objects_of_a_box_that_captures(cluster: Cluster, namespace: str) -> None:
    (held,) = [it for it in cluster.apply(*rendered(namespace)) if it["kind"] == "StatefulSet"]
    assert held["metadata"]["name"] == "queuebox-orders-capture"
    assert held["spec"]["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete", "whenScaled": "Retain"}
    (container,) = held["spec"]["template"]["spec"]["containers"]
    assert STATE in [it["mountPath"] for it in container["volumeMounts"]]


def test_the_same_again_changes_nothing(cluster: Cluster, namespace: str) -> None:
    first, second = (cluster.apply(owner_of(namespace))[0]["metadata"] for _ in range(2))
    assert second["resourceVersion"] == first["resourceVersion"]


def test_the_owner_can_be_scaled_and_gets_new_configurations(cluster: Cluster, namespace: str) -> None:
    cluster.apply(owner_of(namespace))
    held = cluster.apply(owner_of(namespace, replicas=0))[0]
    assert (held["spec"]["replicas"], held["metadata"]["generation"]) == (0, 2)


def test_the_longest_name_of_a_box_has_room_for_an_owner(cluster: Cluster, namespace: str) -> None:
    held = cluster.apply(owner_of(namespace, "a" * 46))[0]
    assert len(held["metadata"]["name"]) <= 52


async def test_an_owner_that_the_box_does_not_want_is_deleted_and_a_copy_of_it_is_not(
    cluster: Cluster, namespace: str
) -> None:
    shop, owner = Namespace(cluster, namespace), owner_of(namespace, NAME)
    copy = {**owner, "metadata": {**owner["metadata"], "name": "copy"}}
    async with operator(cluster.kubeconfig, f"--namespace={namespace}", f"--lease-namespace={namespace}"):
        await shop.deliver()
        cluster.apply(copy, owner)
        name = owner["metadata"]["name"]
        await until(lambda: not shop.there("StatefulSet", name), 10, "no capture owner", every=0.05)
    assert shop.there("StatefulSet", "copy")
