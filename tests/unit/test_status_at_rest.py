"""What is wanted at rest is ready, so that tools which wait for it do not wait for ever."""

from queuebox_operator.facts import Ref
from services.box_world import BOX, NAMESPACE, World, destination, route

ORDERS = Ref("Route", NAMESPACE, "orders")
API = Ref("Destination", NAMESPACE, "api")


def waits(world: World, ref: Ref) -> bool:
    return bool(world.condition(ref, "Reconciling") or world.condition(ref, "Stalled"))


def at_zero() -> World:
    world = World.running()
    world.edit(BOX, agent={"replicas": 0})
    world.settle()
    return world


def test_a_box_that_is_scaled_to_zero_is_ready_with_all_that_names_it() -> None:
    world = at_zero()
    for ref in (BOX, ORDERS, API):
        assert world.condition(ref, "Ready") == "True ScaledToZero"
        assert world.condition(ref, "Programmed") == "True Programmed"
        assert "no agent runs" in world.message(ref, "Programmed")
        assert not waits(world, ref)


def test_it_is_on_its_way_while_agents_stop() -> None:
    world = World.running()
    world.edit(BOX, agent={"replicas": 0})
    world.reconcile()
    assert world.condition(BOX, "Ready") == "False Progressing"


def test_only_the_box_tells_of_it() -> None:
    world = World.running()
    world.edit(BOX, agent={"replicas": 0})
    world.reconcile()
    world.roll_out()
    down = world.reconcile().happenings
    assert [(it.about, it.type, it.reason) for it in down] == [(BOX, "Normal", "ScaledToZero")]
    world.edit(BOX, agent={"replicas": 1})
    assert [it.about for it in world.settle().happenings] == [BOX]


def test_a_mistake_is_told_while_no_agent_runs() -> None:
    world = at_zero()
    world.edit(ORDERS, topicPattern="***")
    world.reconcile()
    assert world.condition(ORDERS, "Ready") == "False Invalid"
    assert world.condition(ORDERS, "Stalled") == "True Invalid"


def test_an_api_server_that_refuses_is_told_while_no_agent_is_wanted() -> None:
    world = at_zero()
    world.apply_problem = "quota"
    world.reconcile()
    assert world.condition(BOX, "Ready") == "False ApplyFailed"


def test_a_box_without_a_route_is_not_ready_whatever_its_scale() -> None:
    world = at_zero()
    world.remove(ORDERS)
    world.settle()
    assert world.condition(BOX, "Ready") == "False NoRoutes"


def test_a_box_that_is_suspended_before_it_ran_is_ready() -> None:
    world = World()
    world.secret("db", "1", "password")
    world.put("QueueBox", BOX.name, {"database": {"url": "postgresql://u:p@db/shop"}, "suspend": True})
    world.put("Destination", "api", destination())
    world.put("Route", "orders", route("order.*"))
    made = world.reconcile()
    assert made.apply == ()
    assert world.condition(BOX, "Ready") == "True Suspended"
    assert world.condition(BOX, "Programmed") == "False NotProgrammed"
    assert not waits(world, BOX)
    assert world.condition(ORDERS, "Reconciling") == "True BoxNotReady"


def test_a_route_that_is_suspended_before_it_ran_is_ready() -> None:
    world = World.running()
    more = world.put("Route", "more", route("more.*", suspend=True))
    world.settle()
    assert world.condition(more, "Ready") == "True Suspended"
    assert world.condition(more, "Programmed") == "False NotProgrammed"
    assert not waits(world, more)
