"""What is wanted at rest, what does not come up, and what others write into a status."""

import pytest

from services.boxes import API_VERSION, NAME, Namespace, box, destination, route, secret
from services.operators import OperatorProcess
from services.waiting import until

pytestmark = pytest.mark.kubernetes

ALL = (("QueueBox", NAME), ("Destination", "orders"), ("Route", "orders"))
RECONCILES = 'queuebox_operator_reconciles_total{result="done"}'
LATE = "ReplicaSet has timed out progressing."


async def reconcile(shop: Namespace, running: OperatorProcess, turn: str) -> None:
    before = await running.metric(RECONCILES)
    annotations = {"metadata": {"annotations": {"queuebox.dev/reconcile-at": turn}}}
    shop.cluster.patch("QueueBox", NAME, annotations, shop.name)

    async def reconciled() -> bool:
        return await running.metric(RECONCILES) > before

    await until(reconciled, 10, "a reconcile", every=0.05)


def waits(shop: Namespace, kind: str, name: str) -> list[str]:
    return [type_ for type_ in ("Reconciling", "Stalled") if shop.condition(kind, name, type_)]


async def test_a_box_that_is_scaled_to_zero_is_ready_with_all_that_names_it(delivering: Namespace) -> None:
    delivering.cluster.kubectl("scale", "-n", delivering.name, f"queuebox/{NAME}", "--replicas=0")
    await until(lambda: delivering.get("Deployment")["spec"]["replicas"] == 0, 10, "no agent", every=0.05)
    delivering.run_agents()
    for kind, name in ALL:
        await delivering.until(kind, name, "Ready=True", "ScaledToZero")
        assert waits(delivering, kind, name) == []


@pytest.mark.usefixtures("running")
async def test_a_box_that_is_suspended_before_it_ran_is_ready_and_makes_nothing(shop: Namespace) -> None:
    shop.apply(secret(), box(suspend=True), destination(), route())
    await shop.until("QueueBox", NAME, "Ready=True", "Suspended")
    await shop.until("Route", "orders", "Ready=False", "BoxNotReady")
    assert waits(shop, "QueueBox", NAME) == []
    assert not shop.there("Deployment")


async def test_agents_that_do_not_come_up_are_told_without_any_edit_and_heal(delivering: Namespace) -> None:
    deployment = delivering.get("Deployment")
    late = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": LATE}
    status = deployment["status"] | {"replicas": 2, "updatedReplicas": 1, "conditions": [late]}
    whole = {key: deployment[key] for key in ("apiVersion", "kind")} | {"metadata": {"name": f"queuebox-{NAME}"}}
    delivering.cluster.apply_status(whole | {"status": status}, delivering.name, manager="deployments")
    await delivering.until("QueueBox", NAME, "Ready=False", "RolloutFailed")
    assert delivering.condition("QueueBox", NAME, "Programmed")["message"] == LATE
    assert waits(delivering, "QueueBox", NAME) == ["Reconciling"]
    await delivering.settle()


async def test_a_condition_of_somebody_else_stays_and_writes_nothing(
    delivering: Namespace, running: OperatorProcess
) -> None:
    there, moment = delivering, "2026-01-01T00:00:00Z"
    audited = {"type": "Audited", "status": "True", "reason": "Looked", "message": "", "lastTransitionTime": moment}
    meta = {"apiVersion": API_VERSION, "kind": "QueueBox", "metadata": {"name": NAME}}
    there.cluster.apply_status(meta | {"status": {"conditions": [audited]}}, there.name, manager="auditor")
    await reconcile(there, running, "first")
    writes = await running.writes()
    await reconcile(there, running, "second")
    assert await running.writes() == writes
    assert there.condition("QueueBox", NAME, "Ready")["status"] == "True"
    assert [it["type"] for it in there.get("QueueBox", NAME)["status"]["conditions"]].count("Audited") == 1
