"""An API server that goes away, hangs and breaks its connections: the operator goes on by itself."""

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest

from services.apiserver import ApiServer
from services.boxes import Namespace, destination
from services.operators import OperatorProcess, operator
from services.waiting import until, working_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.fault, pytest.mark.timeout(240)]

AWAY_SECONDS = 10.0


@pytest.fixture
def shop(own_api_server: ApiServer) -> Namespace:
    return Namespace(own_api_server.cluster, "default")


@pytest.fixture
async def running(own_api_server: ApiServer, shop: Namespace) -> AsyncIterator[OperatorProcess]:
    """An operator for a whole cluster, with a box that is ready."""
    async with operator(own_api_server.kubeconfig) as process:
        await shop.deliver()
        yield process


async def test_it_goes_on_after_the_api_server_was_away(
    own_api_server: ApiServer, shop: Namespace, running: OperatorProcess
) -> None:
    own_api_server.kill()
    await working_for(AWAY_SECONDS)
    await asyncio.to_thread(own_api_server.start)
    shop.apply(destination(url="http://other:8080"))
    await until(lambda: "other" in str(shop.config()), 30, "the change", every=0.2)
    assert running.running


async def test_what_was_deleted_while_it_could_not_look_is_missed(
    own_api_server: ApiServer, shop: Namespace, running: OperatorProcess
) -> None:
    running.signal(signal.SIGSTOP)
    shop.cluster.delete("Route", "orders", "default")
    shop.cluster.delete("Destination", "orders", "default")
    own_api_server.kill()
    await asyncio.to_thread(own_api_server.start)
    running.signal(signal.SIGCONT)
    await shop.until("QueueBox", "shop", "Ready=False", "NoRoutes", seconds=60)


async def test_it_goes_on_after_the_api_server_hung(
    own_api_server: ApiServer, shop: Namespace, running: OperatorProcess
) -> None:
    own_api_server.freeze()
    await working_for(AWAY_SECONDS)
    own_api_server.thaw()
    shop.apply(destination(url="http://other:8080"))
    await until(lambda: "other" in str(shop.config()), 60, "the change", every=0.2)
    assert running.running


async def test_it_is_alive_while_the_api_server_is_away(own_api_server: ApiServer, running: OperatorProcess) -> None:
    own_api_server.kill()
    await working_for(AWAY_SECONDS)
    assert await running.live()
    assert await running.ready()
