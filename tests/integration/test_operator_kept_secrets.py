"""Agents read the Secret of what they still run, whatever the specs name by now."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.boxes import NAME, Namespace, destination, resource, route, secret, whole
from services.cluster import Cluster
from services.operators import operator
from services.waiting import until

pytestmark = pytest.mark.kubernetes

OF_API = "credentials-of-api"


def guarded(password_in: str = OF_API, **spec: Any) -> dict[str, Any]:
    """A Destination that reads a Secret of its own."""
    basic = {"username": "shop", "passwordSecretRef": {"name": password_in, "key": "password"}}
    http = {"baseUrl": "http://receiver:8080", "auth": {"basic": basic}}
    return resource("Destination", "orders", queueBoxRef={"name": NAME}, type="http", http=http, **spec)


@pytest.fixture
async def shop(cluster: Cluster, namespace: str) -> AsyncIterator[Namespace]:
    """A box that is ready, with a Destination that reads a Secret of its own."""
    shop = Namespace(cluster, namespace)
    async with operator(cluster.kubeconfig, f"--namespace={namespace}", f"--lease-namespace={namespace}"):
        await shop.deliver(secret(OF_API), *whole(), guarded())
        yield shop


async def assert_that_its_rotation_rolls(shop: Namespace) -> None:
    before = shop.config_hash()
    shop.apply(secret(OF_API, password="rotated"))
    await until(lambda: shop.config_hash() != before, 10, "new agents", every=0.05)


async def test_the_secret_of_a_last_good_destination(shop: Namespace) -> None:
    shop.apply(guarded("missing"))
    await shop.until("Destination", "orders", "ResolvedRefs=False", "SecretNotFound")
    await assert_that_its_rotation_rolls(shop)


async def test_the_secret_of_a_suspended_destination_whose_edit_waits(shop: Namespace) -> None:
    shop.apply({**destination(), "spec": {**destination()["spec"], "suspend": True}})
    await shop.until("Destination", "orders", "Ready=True", "Suspended")
    await assert_that_its_rotation_rolls(shop)


async def test_the_secret_of_a_deleted_destination_that_a_route_names(shop: Namespace) -> None:
    shop.cluster.delete("Destination", "orders", shop.name)
    await shop.until("Route", "orders", "ResolvedRefs=False", "DestinationNotFound")
    await assert_that_its_rotation_rolls(shop)


async def test_the_secret_of_what_no_agent_runs_any_more_rolls_nothing(shop: Namespace) -> None:
    shop.apply(destination())
    await until(lambda: "auth" not in shop.config()["destinations"]["orders"], 10, "no credential", every=0.05)
    before = shop.config_hash()
    shop.apply(secret(OF_API, password="rotated"), route("later", topics="later.*"))  # heard of after it
    await until(lambda: len(shop.config()["routes"]) == 2, 10, "the later route", every=0.05)
    shop.cluster.delete("Route", "later", shop.name)
    await until(lambda: shop.config_hash() == before, 10, "the hash of before", every=0.05)
