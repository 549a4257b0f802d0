"""What agents say on their management ports shows in the status of their box, and costs no more than that."""

from collections.abc import AsyncIterator

import pytest

from queuebox_agent.telemetry.metrics import Metrics
from services.agent_pods import agent_pod, pod
from services.boxes import NAME, Json, Namespace
from services.cluster import Cluster
from services.operators import OperatorProcess, operator
from services.waiting import until, working_for

pytestmark = pytest.mark.kubernetes

ROUND_SECONDS = 15


@pytest.fixture
async def running(cluster: Cluster, namespace: str) -> AsyncIterator[OperatorProcess]:
    async with operator(cluster.kubeconfig, f"--namespace={namespace}", f"--lease-namespace={namespace}") as process:
        yield process


@pytest.fixture
async def shop(cluster: Cluster, namespace: str, running: OperatorProcess) -> Namespace:
    """A box that is ready."""
    shop = Namespace(cluster, namespace)
    await shop.deliver()
    return shop


def start(shop: Namespace, seen: Json) -> None:
    """The pod as a kubelet would have it."""
    labels = {
        "queuebox.dev/box": NAME, "app.kubernetes.io/name": "queuebox-agent",
        "app.kubernetes.io/managed-by": "queuebox-operator",
    }  # fmt: skip
    containers = [it | {"image": "none"} for it in seen["spec"]["containers"]]
    name = f"agent-{seen['metadata']['uid']}"
    identity: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
    shop.apply(identity | {"metadata": {"name": name, "labels": labels}, "spec": {"containers": containers}})
    status = {"phase": "Running", "podIP": seen["status"]["podIP"], "podIPs": [{"ip": seen["status"]["podIP"]}]}
    shop.cluster.apply_status(identity | {"status": status}, namespace=shop.name)


def reported(shop: Namespace) -> tuple[object, object]:
    status = shop.get("QueueBox", NAME)["status"]
    return status.get("pending"), status.get("oldestPendingSeconds")


async def test_what_agents_say_is_in_status(shop: Namespace) -> None:
    said = Metrics("1.2.3")
    said.pending.set(7)
    said.oldest_pending_age.set(12.5)
    async with agent_pod(said) as seen:
        start(shop, seen)
        await until(lambda: reported(shop) == (7, 12), ROUND_SECONDS + 5, "the report", every=0.2)


async def test_a_pod_that_does_not_answer_holds_nothing_up(shop: Namespace, running: OperatorProcess) -> None:
    start(shop, pod(1, uid="1"))

    async def asked() -> bool:
        return await running.metric('queuebox_operator_agent_reports_total{result="failed"}') > 0

    await until(asked, ROUND_SECONDS + 5, "the agent to be asked", every=0.2)
    assert reported(shop) == (None, None)
    assert shop.condition("QueueBox", NAME, "Ready")["status"] == "True"


async def test_the_same_report_is_written_once(shop: Namespace, running: OperatorProcess) -> None:
    said = Metrics("1.2.3")
    said.pending.set(7)
    async with agent_pod(said) as seen:
        start(shop, seen)
        await until(lambda: reported(shop)[0] == 7, ROUND_SECONDS + 5, "the report", every=0.2)
        before = await running.writes()
        await working_for(ROUND_SECONDS + 2)
        assert await running.writes() == before
