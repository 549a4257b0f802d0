"""The record of a box is lost while agents run: nothing that they may have is taken out (docs/decisions/0005)."""

from queuebox_operator.facts import Ref
from services.box_world import BOX, NAMESPACE, World, route

ROUTE = Ref("Route", NAMESPACE, "orders")


def forgetful() -> World:
    """A box that runs a Route whose edit is invalid, and whose record somebody has deleted."""
    world = World.running()
    world.edit(ROUTE, topicPattern="***")
    world.reconcile()
    world.data = None
    return world


def conditions(world: World, ref: Ref) -> dict[str, tuple[str, str]]:
    return {it["type"]: (it["status"], it["reason"]) for it in world.resources[ref].status["conditions"]}


def test_nothing_is_written_while_a_resource_is_not_valid() -> None:
    world = forgetful()
    made = world.reconcile()
    assert not made.apply
    assert not made.delete


def test_the_box_says_that_the_agents_go_on() -> None:
    world = forgetful()
    world.reconcile()
    assert conditions(world, BOX)["Programmed"] == ("False", "LastGood")


def test_the_route_says_what_is_wrong_with_it() -> None:
    world = forgetful()
    world.reconcile()
    assert conditions(world, ROUTE)["Accepted"] == ("False", "Invalid")


def test_the_box_goes_on_when_the_resource_is_mended() -> None:
    world = forgetful()
    world.reconcile()
    world.put("Route", "orders", route("order.**"))
    world.settle()
    assert conditions(world, ROUTE)["Ready"] == ("True", "Ready")


def test_a_lost_record_of_what_is_all_valid_is_made_anew() -> None:
    world = World.running()
    world.data = None
    world.reconcile()
    assert world.data is not None
