"""The view of the cluster, while its API server comes and goes."""

import asyncio

import pytest

from queuebox_operator.facts import Ref
from services import boxes
from services.apiserver import ApiServer
from services.boxes import Namespace
from services.kube import open_world
from services.waiting import until, working_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.fault]

BOX = Ref("QueueBox", "default", boxes.NAME)
AWAY_SECONDS = 10


async def test_a_server_that_was_away_for_ten_seconds_is_watched_again(own_api_server: ApiServer) -> None:
    there = Namespace(own_api_server.cluster, "default")
    there.apply(*boxes.whole())
    async with open_world(own_api_server.kubeconfig) as (world, heard):
        own_api_server.kill()
        await working_for(AWAY_SECONDS)
        assert world.box(BOX), "what was known stays known"
        await asyncio.to_thread(own_api_server.start)
        there.apply(boxes.route(topics="other.**"))
        await until(lambda: heard.of(BOX), 15, "word of an edit")


def change_behind(server: ApiServer) -> None:
    """Delete a route and add a destination while clients of that server see nothing."""
    server.kill()
    with server.beside() as other:
        other.cluster.delete("Route", "orders", "default")
        Namespace(other.cluster, "default").apply(boxes.destination("later"))
    server.start()


async def test_what_was_deleted_while_nobody_watched_is_heard_of(own_api_server: ApiServer) -> None:
    there = Namespace(own_api_server.cluster, "default")
    there.apply(*boxes.whole())
    async with open_world(own_api_server.kubeconfig) as (world, heard):
        await asyncio.to_thread(change_behind, own_api_server)
        await until(lambda: world.routes_of(BOX) == (), 15, "the end of the route")
        await until(lambda: len(world.destinations_of(BOX)) == 2, 15, "the new destination")
        assert heard.of(BOX)


async def test_a_world_may_begin_before_its_server_answers(own_api_server: ApiServer) -> None:
    Namespace(own_api_server.cluster, "default").apply(*boxes.whole())
    own_api_server.freeze()
    asyncio.get_running_loop().call_later(2, own_api_server.thaw)
    async with open_world(own_api_server.kubeconfig) as (world, _):
        assert world.box(BOX)
