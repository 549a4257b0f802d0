"""What somebody else changes is put right, and what nobody changed is left alone."""

from collections.abc import AsyncIterator

import pytest

from services.boxes import NAME, Namespace
from services.cluster import Cluster
from services.operators import OperatorProcess, operator
from services.waiting import until, working_for

pytestmark = pytest.mark.kubernetes

QUIET_SECONDS = 5


@pytest.fixture
def options(namespace: str) -> tuple[str, ...]:
    return (f"--namespace={namespace}", f"--lease-namespace={namespace}")


@pytest.fixture
async def running(cluster: Cluster, options: tuple[str, ...]) -> AsyncIterator[OperatorProcess]:
    async with operator(cluster.kubeconfig, *options) as process:
        yield process


@pytest.fixture
async def shop(cluster: Cluster, namespace: str, running: OperatorProcess) -> Namespace:
    """A box that is ready."""
    shop = Namespace(cluster, namespace)
    await shop.deliver()
    return shop


async def test_an_edited_object_is_put_right(shop: Namespace) -> None:
    before = shop.get("ConfigMap")["data"]
    shop.cluster.patch("ConfigMap", f"queuebox-{NAME}", {"data": {"entries.json": "{}"}}, shop.name)
    await until(lambda: shop.get("ConfigMap")["data"] == before, 10, "the old content", every=0.05)


async def test_a_scaled_deployment_is_put_right(shop: Namespace) -> None:
    shop.cluster.patch("Deployment", f"queuebox-{NAME}", {"spec": {"replicas": 7}}, shop.name)
    await until(lambda: shop.get("Deployment")["spec"]["replicas"] == 1, 10, "one agent", every=0.05)


@pytest.mark.parametrize("kind", ["ConfigMap", "Service", "Deployment", "ServiceAccount"])
async def test_a_deleted_object_is_made_again(shop: Namespace, kind: str) -> None:
    uid = shop.get(kind)["metadata"]["uid"]
    shop.cluster.delete(kind, f"queuebox-{NAME}", shop.name)
    await until(
        lambda: shop.there(kind) and shop.get(kind)["metadata"]["uid"] != uid, 10, f"another {kind}", every=0.05
    )


async def test_a_field_that_somebody_else_applied_by_force_is_taken_back(shop: Namespace) -> None:
    meta = {"name": f"queuebox-{NAME}", "namespace": shop.name}
    before = shop.get("ConfigMap")["data"]
    shop.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"entries.json": "a"}})
    await until(lambda: shop.get("ConfigMap")["data"] == before, 10, "the record", every=0.05)


async def test_a_status_that_somebody_else_wrote_is_put_right(shop: Namespace) -> None:
    before = shop.get("QueueBox", NAME)["status"]
    status = {"status": {"configHash": "0000", "routes": 7}}
    meta = {"apiVersion": "queuebox.dev/v1alpha1", "kind": "QueueBox", "metadata": {"name": NAME}}
    shop.cluster.apply_status(meta | status, namespace=shop.name)
    await until(lambda: shop.get("QueueBox", NAME)["status"] == before, 10, "the old status", every=0.05)


async def test_what_the_operator_does_not_set_is_left_alone(shop: Namespace, running: OperatorProcess) -> None:
    shop.cluster.patch("Service", f"queuebox-{NAME}", {"metadata": {"annotations": {"team": "orders"}}}, shop.name)
    await working_for(1)
    before = await running.writes()
    await working_for(QUIET_SECONDS)
    assert shop.get("Service")["metadata"]["annotations"]["team"] == "orders"
    assert await running.writes() == before


async def test_nothing_is_written_while_nothing_changes(shop: Namespace, running: OperatorProcess) -> None:
    await working_for(1)
    before, versions = await running.writes(), shop.versions()
    await working_for(QUIET_SECONDS)
    assert await running.writes() == before
    assert shop.versions() == versions


async def test_a_status_of_the_deployment_that_says_the_same_writes_nothing(
    shop: Namespace, running: OperatorProcess
) -> None:
    await working_for(1)
    before = await running.writes()
    meta = {"name": f"queuebox-{NAME}", "namespace": shop.name}
    status = {"conditions": [{"type": "Progressing", "status": "True", "reason": "A", "message": "b"}]}
    shop.cluster.apply_status({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "status": status})
    await working_for(2)
    assert await running.writes() == before


async def test_a_new_operator_changes_nothing(
    shop: Namespace, running: OperatorProcess, options: tuple[str, ...]
) -> None:
    versions = shop.versions()
    await running.stop()
    async with operator(shop.cluster.kubeconfig, *options) as second:
        await working_for(3)
        assert await second.metric("queuebox_operator_queue_depth") == 0
    assert shop.versions() == versions
