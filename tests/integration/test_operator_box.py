"""From what people apply to objects and status, on a real API server, by the operator as a process."""

import pytest

from services.boxes import NAME, SECRET, Namespace, box, destination, resource, route, secret, whole
from services.operators import OperatorProcess
from services.waiting import until

pytestmark = pytest.mark.kubernetes


@pytest.mark.usefixtures("running")
async def test_a_box_becomes_the_objects_of_its_agents(shop: Namespace) -> None:
    shop.apply(*whole())
    kinds = ("ServiceAccount", "ConfigMap", "Service", "Deployment")
    await until(lambda: all(shop.there(kind) for kind in kinds), 10, "the objects", every=0.05)
    await until(lambda: "routes" in shop.config(), 10, "the whole configuration", every=0.05)
    assert shop.config()["destinations"]["orders"]["baseUrl"] == "http://receiver:8080"
    assert shop.config()["routes"] == [{"topicPattern": "order.**", "destination": "orders"}]


@pytest.mark.usefixtures("running")
async def test_the_objects_belong_to_their_box(shop: Namespace) -> None:
    shop.apply(*whole())
    await until(lambda: shop.there("Deployment"), 10, "the Deployment", every=0.05)
    (owner,) = shop.get("Deployment")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == (
        "QueueBox", shop.get("QueueBox", NAME)["metadata"]["uid"], True,
    )  # fmt: skip


async def test_everything_is_ready_when_its_agents_are(delivering: Namespace) -> None:
    for kind, name in (("QueueBox", NAME), ("Destination", "orders"), ("Route", "orders")):
        wait = ("wait", "--for=condition=Ready", "--timeout=10s")
        delivering.cluster.kubectl(*wait, f"--namespace={delivering.name}", f"{kind}/{name}")
        assert delivering.condition(kind, name, "Programmed")["status"] == "True"


async def test_a_box_whose_agents_start_is_on_its_way(shop: Namespace, running: OperatorProcess) -> None:
    shop.apply(*whole())
    await shop.until("QueueBox", NAME, "Reconciling=True")
    assert shop.condition("QueueBox", NAME, "Ready")["status"] != "True"


async def test_a_bad_edit_leaves_what_runs_as_it_is(delivering: Namespace) -> None:
    before = delivering.config(), delivering.config_hash()
    delivering.apply(route(to="nowhere"))
    await delivering.until("Route", "orders", "ResolvedRefs=False", "DestinationNotFound")
    assert (delivering.config(), delivering.config_hash()) == before


async def test_another_object_moves_on_beside_a_bad_one(delivering: Namespace) -> None:
    delivering.apply(route(to="nowhere"), route("invoices", topics="invoice.**"))
    await delivering.until("Route", "invoices", "Accepted=True")
    await until(lambda: len(delivering.config()["routes"]) == 2, 10, "two routes", every=0.05)


async def test_a_change_reaches_the_agents_and_status(delivering: Namespace) -> None:
    before = delivering.config_hash()
    delivering.apply(destination(url="http://other:8080"))
    await until(lambda: delivering.config_hash() != before, 10, "another hash", every=0.05)
    assert delivering.config()["destinations"]["orders"]["baseUrl"] == "http://other:8080"
    delivering.run_agents()
    await delivering.until("Destination", "orders", "Programmed=True")


async def test_a_deleted_object_leaves_the_configuration(delivering: Namespace) -> None:
    delivering.apply(route("invoices", topics="invoice.**"))
    await until(lambda: len(delivering.config()["routes"]) == 2, 10, "two routes", every=0.05)
    delivering.cluster.delete("Route", "invoices", delivering.name)
    await until(lambda: len(delivering.config()["routes"]) == 1, 10, "one route", every=0.05)


async def test_a_destination_that_a_route_names_outlives_its_deletion(delivering: Namespace) -> None:
    delivering.cluster.delete("Destination", "orders", delivering.name)
    await delivering.until("Route", "orders", "ResolvedRefs=False", "DestinationNotFound")
    assert "orders" in delivering.config()["destinations"]


async def test_a_rotated_secret_rolls_the_agents(delivering: Namespace) -> None:
    before = delivering.config_hash()
    delivering.apply(secret(password="another"))
    await until(lambda: delivering.config_hash() != before, 10, "another hash", every=0.05)


async def test_a_secret_that_is_gone_is_said_and_rolls_nothing(delivering: Namespace) -> None:
    before = delivering.config_hash()
    delivering.cluster.delete("Secret", SECRET, delivering.name)
    await delivering.until("QueueBox", NAME, "ResolvedRefs=False", "SecretNotFound")
    assert delivering.config_hash() == before


@pytest.mark.usefixtures("running")
async def test_what_names_no_box_says_so(shop: Namespace) -> None:
    shop.apply(destination(box="nowhere"), route(box="nowhere"))
    for kind in ("Destination", "Route"):
        await shop.until(kind, "orders", "ResolvedRefs=False", "QueueBoxNotFound")


async def test_what_belonged_to_a_deleted_box_says_so(delivering: Namespace) -> None:
    delivering.cluster.delete("QueueBox", NAME, delivering.name)
    await delivering.until("Route", "orders", "ResolvedRefs=False", "QueueBoxNotFound")


async def test_what_cannot_be_run_yet_is_said_and_disturbs_nothing(delivering: Namespace) -> None:
    before = delivering.config_hash()
    queue = {"url": "amqp://mq:5672", "exchange": "orders"}
    delivering.apply(resource("Destination", "queue", queueBoxRef={"name": NAME}, type="rabbitmq", rabbitmq=queue))
    await delivering.until("Destination", "queue", "Accepted=False", "Unsupported")
    assert delivering.config_hash() == before


async def test_kubectl_scale_scales_the_agents(delivering: Namespace) -> None:
    delivering.cluster.kubectl("scale", "-n", delivering.name, f"queuebox/{NAME}", "--replicas=3")
    await until(lambda: delivering.get("Deployment")["spec"]["replicas"] == 3, 10, "three agents", every=0.05)
    await until(lambda: delivering.there("PodDisruptionBudget"), 10, "the budget", every=0.05)
    delivering.cluster.kubectl("scale", "-n", delivering.name, f"queuebox/{NAME}", "--replicas=1")
    await until(lambda: not delivering.there("PodDisruptionBudget"), 10, "no budget", every=0.05)


async def test_an_annotation_asks_for_a_reconcile(delivering: Namespace, running: OperatorProcess) -> None:
    sample = 'queuebox_operator_reconciles_total{result="done"}'
    before = await running.metric(sample)
    annotations = {"metadata": {"annotations": {"queuebox.dev/reconcile-at": "now"}}}
    delivering.cluster.patch("QueueBox", NAME, annotations, delivering.name)

    async def reconciled() -> bool:
        return await running.metric(sample) > before

    await until(reconciled, 10, "a reconcile", every=0.05)


async def test_a_transition_is_told_once_as_an_event(delivering: Namespace) -> None:
    delivering.apply(route(to="nowhere"))
    await delivering.until("Route", "orders", "ResolvedRefs=False")

    def told() -> list[dict[str, object]]:
        events = delivering.cluster.list("Event", delivering.name)
        return [it for it in events if it["involvedObject"]["kind"] == "Route" and it["type"] == "Warning"]

    await until(lambda: bool(told()), 10, "an event", every=0.05)
    assert len(told()) == 1


async def test_a_box_without_routes_runs_no_agent(shop: Namespace, running: OperatorProcess) -> None:
    shop.apply(secret(), box(), destination())
    await shop.until("QueueBox", NAME, "Ready=False", "NoRoutes")
    assert not shop.there("Deployment") or shop.get("Deployment")["spec"]["replicas"] == 0


async def test_log_lines_name_the_resource(delivering: Namespace, running: OperatorProcess) -> None:
    assert f'"kind": "QueueBox", "namespace": "{delivering.name}", "name": "{NAME}"' in running.log
    assert "letmein" not in running.log
