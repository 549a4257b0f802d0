"""Each configuration is an object of its own, so that an agent that restarts finds the one that it was made for."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.boxes import NAME, Namespace, destination, route
from services.cluster import Cluster, Refused
from services.operators import OperatorProcess, operator
from services.waiting import until, working_for

pytestmark = pytest.mark.kubernetes

WHILE_IT_COULD_GO = 1.5


@pytest.fixture
async def running(cluster: Cluster, namespace: str) -> AsyncIterator[OperatorProcess]:
    async with operator(cluster.kubeconfig, f"--namespace={namespace}", f"--lease-namespace={namespace}") as process:
        yield process


@pytest.fixture
async def shop(cluster: Cluster, namespace: str, running: OperatorProcess) -> Namespace:
    """A box that is ready."""
    shop = Namespace(cluster, namespace)
    await shop.deliver()
    await until(lambda: len(shop.configs()) == 1, 10, "one configuration", every=0.05)
    return shop


async def rolling(shop: Namespace) -> None:
    before = shop.config_name()
    shop.apply(destination(url="http://other:8080"))
    await until(lambda: shop.config_name() != before, 10, "another configuration", every=0.05)


def put_instead(shop: Namespace, name: str, **changes: Any) -> None:
    """As `kubectl replace --force` does."""
    found = shop.get("ConfigMap", name)
    meta = {key: found["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
    shop.cluster.delete("ConfigMap", name, shop.name)
    shop.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta} | changes)


async def test_nobody_edits_a_configuration(shop: Namespace) -> None:
    with pytest.raises(Refused, match="immutable"):
        shop.cluster.patch("ConfigMap", shop.config_name(), {"data": {"queuebox.yml": "routes: []"}}, shop.name)


async def test_while_agents_roll_out_the_old_ones_keep_their_configuration(shop: Namespace) -> None:
    before = shop.config_name()
    await rolling(shop)
    await working_for(WHILE_IT_COULD_GO)
    assert shop.configs() == {before, shop.config_name()}


async def test_when_all_agents_are_new_the_old_configuration_goes(shop: Namespace) -> None:
    before = shop.config_name()
    await rolling(shop)
    shop.run_agents()
    await until(lambda: shop.configs() == {shop.config_name()}, 10, "the new configuration alone", every=0.05)
    assert shop.config_name() != before


async def test_a_change_that_is_taken_back_takes_its_configuration_along(shop: Namespace) -> None:
    before = shop.config_name()
    await rolling(shop)
    shop.apply(destination())
    await until(lambda: shop.config_name() == before, 10, "the first configuration", every=0.05)
    shop.run_agents()
    await until(lambda: shop.configs() == {before}, 10, "the first configuration alone", every=0.05)


async def test_a_deleted_configuration_is_made_again(shop: Namespace) -> None:
    name = shop.config_name()
    before = shop.get("ConfigMap", name)["data"]
    shop.cluster.delete("ConfigMap", name, shop.name)
    await until(lambda: shop.there("ConfigMap", name), 10, "the configuration", every=0.05)
    assert shop.get("ConfigMap", name)["data"] == before


async def test_a_configuration_that_somebody_put_instead_is_put_right(shop: Namespace) -> None:
    name = shop.config_name()
    before = shop.get("ConfigMap", name)["data"]
    put_instead(shop, name, data={"queuebox.yml": "routes: []"}, immutable=True)

    def right() -> bool:
        found = shop.cluster.get("ConfigMap", name, shop.name)
        return found is not None and found["data"] == before and found["immutable"]

    await until(right, 10, "the configuration", every=0.05)


async def test_a_copy_that_somebody_made_stays(shop: Namespace) -> None:
    found = shop.get("ConfigMap", shop.config_name())
    name = f"queuebox-{NAME}-0123456789abcdef"
    meta = {"name": name, "namespace": shop.name, "labels": found["metadata"]["labels"]}
    shop.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": found["data"]})
    shop.apply(route("more", topics="more.**"))
    await shop.settle()
    await working_for(WHILE_IT_COULD_GO)
    assert shop.there("ConfigMap", name)
