"""What the operator knows of a real cluster, and which boxes it hears of."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from queuebox_operator.facts import Ref
from queuebox_operator.kube.objects import CONFIG_HASH
from queuebox_operator.watch import World
from services import boxes
from services.boxes import Namespace
from services.cluster import Cluster
from services.kube import Heard, open_world
from services.waiting import until

pytestmark = pytest.mark.kubernetes

LABELS = {"app.kubernetes.io/managed-by": "queuebox-operator", "queuebox.dev/box": boxes.NAME}


class Watching(NamedTuple):
    world: World
    heard: Heard
    there: Namespace
    box: Ref

    async def hears(self, box: Ref | None = None) -> None:
        await until(lambda: self.heard.of(box or self.box), what="word of the box")


@pytest.fixture
async def watching(kubeconfig: Path, cluster: Cluster, namespace: str) -> AsyncIterator[Watching]:
    """A whole box, which the world has listed."""
    there = Namespace(cluster, namespace)
    there.apply(*boxes.whole())
    async with open_world(kubeconfig, namespace) as (world, heard):
        yield Watching(world, heard, there, Ref("QueueBox", namespace, boxes.NAME))


def deployment(**annotations: str) -> dict[str, Any]:
    container = {"name": "agent", "image": boxes.SECRET}
    template = {"metadata": {"labels": LABELS, "annotations": annotations}, "spec": {"containers": [container]}}
    meta = {"name": "queuebox-shop", "labels": LABELS}
    spec = {"selector": {"matchLabels": LABELS}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


async def test_a_box_is_known_with_what_names_it(watching: Watching) -> None:
    world, box = watching.world, watching.box
    assert world.boxes() == {box}
    assert (found := world.box(box))
    assert found.spec["database"]["secretRef"] == {"name": boxes.SECRET}
    assert [it.ref.name for it in world.destinations_of(box)] == ["orders"]
    assert [it.ref.name for it in world.routes_of(box)] == ["orders"]
    assert world.sources_of(box) == ()


async def test_a_secret_is_known_by_the_names_of_its_keys(watching: Watching) -> None:
    fact = watching.world.secrets_of(watching.box)[boxes.SECRET]
    assert fact.keys == frozenset({"uri", "username", "password"})


async def test_an_emptied_secret_is_known_to_have_no_key(watching: Watching) -> None:
    name = watching.there.name
    watching.there.apply({**boxes.secret(), "stringData": {}, "data": {"uri": "eA=="}, "type": "Opaque"})
    watching.there.cluster.patch("Secret", boxes.SECRET, {"data": None}, name)
    await until(lambda: watching.world.secrets_of(watching.box)[boxes.SECRET].keys == frozenset(), 10, "no key")


async def test_an_edit_is_heard_of(watching: Watching) -> None:
    watching.there.apply(boxes.route(topics="other.**"))
    await watching.hears()
    (route,) = watching.world.routes_of(watching.box)
    assert route.spec["topicPattern"] == "other.**"


async def test_a_route_that_moves_is_heard_of_at_both_boxes(watching: Watching) -> None:
    watching.there.apply(boxes.route(box="other"))
    await watching.hears()
    await watching.hears(watching.box._replace(name="other"))
    assert watching.world.routes_of(watching.box) == ()


async def test_a_rotated_secret_is_heard_of_at_the_boxes_that_name_it(watching: Watching) -> None:
    before = watching.world.secrets_of(watching.box)[boxes.SECRET]
    watching.there.apply(boxes.secret(password="another"))
    await watching.hears()
    assert watching.world.secrets_of(watching.box)[boxes.SECRET].version != before.version


async def test_a_deleted_secret_is_heard_of(watching: Watching) -> None:
    watching.there.cluster.delete("Secret", boxes.SECRET, watching.there.name)
    await watching.hears()
    assert watching.world.secrets_of(watching.box) == {}


async def test_a_secret_that_no_box_names_concerns_nobody(watching: Watching) -> None:
    watching.there.apply(boxes.secret("unrelated"))
    watching.there.apply(boxes.route("last"))  # heard of after it
    await watching.hears()
    assert set(watching.heard.boxes) == {watching.box}
    assert len(watching.heard.boxes) == 1


async def test_an_owned_object_is_known_by_its_label(watching: Watching) -> None:
    watching.there.apply(deployment(**{CONFIG_HASH: "abc"}))
    await watching.hears()
    workload = watching.world.workload(Ref("Deployment", watching.there.name, "queuebox-shop"), watching.box)
    assert workload
    assert workload.config_hash == "abc"
    assert [ref.kind for ref in watching.world.owned_by(watching.box)] == ["Deployment"]


async def test_drift_of_an_owned_object_is_heard_of(watching: Watching) -> None:
    watching.there.apply(deployment())
    await watching.hears()
    watching.heard.boxes.clear()
    watching.there.cluster.patch("Deployment", "queuebox-shop", {"spec": {"replicas": 7}}, watching.there.name)
    await watching.hears()


async def test_a_status_that_we_wrote_ourselves_is_no_news(watching: Watching) -> None:
    found = watching.there.get("QueueBox", boxes.NAME)
    wanted = {key: found[key] for key in ("apiVersion", "kind")} | {"metadata": {"name": boxes.NAME}}
    answer = watching.there.cluster.apply_status(wanted | {"status": {"pending": 5}}, watching.there.name)
    watching.world.wrote(answer)
    assert (box := watching.world.box(watching.box))
    assert box.status["pending"] == 5
    assert watching.heard.boxes == []


async def test_a_deleted_box_is_heard_of_and_its_routes_still_name_it(watching: Watching) -> None:
    watching.there.cluster.delete("QueueBox", boxes.NAME, watching.there.name)
    await watching.hears()
    assert watching.world.box(watching.box) is None
    assert watching.box in watching.world.boxes()


async def test_watching_writes_to_no_object(watching: Watching) -> None:
    before = watching.there.get("Route", "orders")
    watching.there.apply(boxes.route("later"))
    await watching.hears()
    assert watching.there.get("Route", "orders") == before
    assert "finalizers" not in watching.there.get("Route", "later")["metadata"]


async def test_a_namespace_that_is_not_watched_is_not_known(
    kubeconfig: Path, cluster: Cluster, namespace: str, watching: Watching
) -> None:
    async with open_world(kubeconfig, "default") as (world, _):
        assert watching.box not in world.boxes()


async def test_without_namespaces_the_whole_cluster_is_watched(kubeconfig: Path, watching: Watching) -> None:
    async with open_world(kubeconfig) as (world, heard):
        assert watching.box in world.boxes()
        watching.there.apply(boxes.route(topics="other.**"))
        await until(lambda: heard.of(watching.box))
