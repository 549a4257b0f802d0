"""What tests of an operator in one namespace begin with; a file whose tests begin otherwise has fixtures of its own."""

from collections.abc import AsyncIterator

import pytest

from services.boxes import Namespace
from services.cluster import Cluster
from services.operators import OperatorProcess, operator


@pytest.fixture
def shop(cluster: Cluster, namespace: str) -> Namespace:
    return Namespace(cluster, namespace)


@pytest.fixture
async def running(shop: Namespace) -> AsyncIterator[OperatorProcess]:
    """An operator that looks after the namespace `shop` and leads."""
    options = (f"--namespace={shop.name}", f"--lease-namespace={shop.name}")
    async with operator(shop.cluster.kubeconfig, *options) as process:
        yield process


@pytest.fixture
async def delivering(shop: Namespace, running: OperatorProcess) -> Namespace:
    """A box that is ready."""
    await shop.deliver()
    return shop
