"""Statuses as Kubernetes' tools read them."""

from dataclasses import replace

import pytest

from queuebox_api.resources import KINDS
from queuebox_operator.facts import AgentReport, Ref, Workload
from queuebox_operator.status.box import rounded
from services.box_world import BOX, NAMESPACE, World, route

API = Ref("Destination", NAMESPACE, "api")
ORDERS = Ref("Route", NAMESPACE, "orders")


def since(world: World, ref: Ref, kind: str) -> str:
    (found,) = [it for it in world.resources[ref].status["conditions"] if it["type"] == kind]
    return str(found["lastTransitionTime"])


def test_a_transition_time_moves_only_with_the_status() -> None:
    world = World.running()
    before = since(world, ORDERS, "Accepted")
    world.edit(ORDERS, topicPattern="order.**")
    world.settle()
    assert since(world, ORDERS, "Accepted") == before
    world.edit(ORDERS, topicPattern="***")
    world.reconcile()
    assert since(world, ORDERS, "Accepted") > before


def test_the_generation_is_in_the_status_and_in_each_condition() -> None:
    world = World.running()
    world.edit(ORDERS, topicPattern="order.**")
    world.reconcile()
    status = world.resources[ORDERS].status
    assert {status["observedGeneration"], *(it["observedGeneration"] for it in status["conditions"])} == {2}


def test_a_status_of_a_newer_generation_is_left_alone() -> None:
    world = World.running()
    status = dict(world.resources[ORDERS].status) | {"observedGeneration": 7}
    world.resources[ORDERS] = replace(world.resources[ORDERS], status=status)
    assert ORDERS not in world.plan().statuses


def test_what_moves_is_reconciling_and_what_needs_an_edit_is_stalled() -> None:
    world = World.running()
    assert (world.condition(ORDERS, "Reconciling"), world.condition(ORDERS, "Stalled")) == ("", "")
    world.edit(ORDERS, topicPattern="order.**")
    world.reconcile()
    assert world.condition(ORDERS, "Reconciling") == "True Progressing"
    world.edit(ORDERS, topicPattern="***")
    world.reconcile()
    assert (world.condition(ORDERS, "Reconciling"), world.condition(ORDERS, "Stalled")) == ("", "True Invalid")


def test_a_spec_that_runs_stays_programmed_while_another_rolls_out() -> None:
    world = World.running()
    world.put("Route", "more", route("more.*"))
    made = world.reconcile()
    assert ORDERS not in made.statuses
    assert API not in made.statuses
    assert world.condition(Ref("Route", NAMESPACE, "more"), "Programmed") == "False RollingOut"


def test_an_edit_that_is_taken_back_waits_for_the_agents() -> None:
    world = World.running()
    world.edit(ORDERS, topicPattern="order.**")
    world.reconcile()
    world.edit(ORDERS, topicPattern="order.*")
    world.reconcile()
    assert world.condition(ORDERS, "Programmed") == "False RollingOut"


@pytest.mark.parametrize(
    "workload",
    [
        Workload(3, 2, 1, 1, 1, 1, "HASH"),
        Workload(2, 2, 2, 1, 2, 2, "HASH"),
        Workload(2, 2, 1, 1, 1, 0, "HASH"),
        Workload(2, 2, 1, 1, 1, 1, "another"),
        None,
    ],
)
def test_a_rollout_is_over_only_when_every_agent_is_new_and_available(workload: Workload | None) -> None:
    world = World.running()
    world.edit(ORDERS, topicPattern="order.**")
    world.reconcile()
    hashed = workload and replace(workload, config_hash=workload.config_hash.replace("HASH", world.template_hash))
    world.workload = hashed
    world.reconcile()
    assert world.condition(ORDERS, "Programmed") == "False RollingOut"


def test_a_box_waits_for_the_agents_of_another_image() -> None:
    world = World.running()
    world.edit(BOX, agent={"image": "registry.example.com/queuebox:next"})
    world.reconcile()
    assert world.condition(BOX, "Ready") == "False Progressing"
    assert world.condition(ORDERS, "Ready") == "True Ready"
    assert world.workload is not None
    problem, generation = "the image cannot be pulled", world.workload.generation
    world.workload = replace(world.workload, observed_generation=generation, updated=0, problem=problem)
    world.reconcile()
    assert world.condition(BOX, "Ready") == "False RolloutFailed"
    assert world.message(BOX, "Ready") == problem


def test_a_rollout_that_is_late_is_on_its_way_and_not_stalled() -> None:
    world = World.running()
    assert world.workload is not None
    world.workload = replace(world.workload, updated=0, problem="ReplicaSet has timed out progressing.")
    world.reconcile()
    assert world.condition(BOX, "Programmed") == "False RolloutFailed"
    assert (world.condition(BOX, "Reconciling"), world.condition(BOX, "Stalled")) == ("True RolloutFailed", "")
    assert world.condition(ORDERS, "Ready") == "True Ready"
    world.roll_out()
    world.reconcile()
    assert world.condition(BOX, "Ready") == "True Ready"


def test_a_problem_of_what_was_wanted_before_is_not_told_of_what_is_wanted_now() -> None:
    world = World.running()
    assert world.workload is not None
    world.workload = replace(world.workload, problem="the image cannot be pulled")
    world.edit(BOX, agent={"image": "registry.example.com/queuebox:mended"})
    world.reconcile()
    assert world.condition(BOX, "Ready") == "False Progressing"


def test_a_box_without_a_ready_agent_says_so() -> None:
    world = World.running()
    world.workload = Workload(2, 2, 1, 1, 0, 0, world.template_hash)
    world.reconcile()
    assert world.condition(BOX, "Ready") == "False AgentsUnavailable"
    assert world.condition(ORDERS, "Ready") == "True Ready"


@pytest.mark.parametrize(
    ("figure", "shown"), [(0, 0), (7, 7), (99, 99), (100, 100), (187.9, 190), (12_345, 12_000), (999, 1000)]
)
def test_figures_are_rounded_to_two_digits(figure: float, shown: int) -> None:
    assert rounded(figure) == shown


def test_figures_stay_while_no_agent_answers() -> None:
    world = World.running()
    world.report = AgentReport(1, 5, 1, 3.0, {"api": "Delivering"})
    world.reconcile()
    world.report = None
    assert world.plan().statuses == {}
    assert world.resources[BOX].status["pending"] == 5


def test_figures_that_differ_by_little_write_nothing() -> None:
    world = World.running()
    world.report = AgentReport(1, 1001, 0, 3.1)
    world.reconcile()
    world.report = AgentReport(1, 1049, 0, 3.9)
    assert world.plan().statuses == {}


def test_figures_go_when_no_agent_is_wanted() -> None:
    world = World.running()
    world.report = AgentReport(1, 5, 1, 3.0)
    world.reconcile()
    world.edit(BOX, agent={"replicas": 0})
    world.settle()
    assert "pending" not in world.resources[BOX].status


@pytest.mark.parametrize("first", [True, False])
def test_a_condition_of_somebody_else_is_no_news(*, first: bool) -> None:
    world = World.running()
    told = dict(world.resources[BOX].status)
    other = {"type": "Audited", "status": "True", "reason": "Looked", "message": "", "lastTransitionTime": "now"}
    whole = [other, *told["conditions"]] if first else [*told["conditions"], other]
    world.resources[BOX] = replace(world.resources[BOX], status=told | {"conditions": whole})
    assert world.plan().statuses == {}
    world.edit(BOX, outbox={"batchSize": 7})
    assert all(it["type"] != "Audited" for it in world.plan().statuses[BOX]["conditions"])


def test_a_condition_of_ours_that_somebody_changed_is_written_again() -> None:
    world = World.running()
    told = dict(world.resources[BOX].status)
    changed = [it | {"message": "something else"} for it in told["conditions"]]
    world.resources[BOX] = replace(world.resources[BOX], status=told | {"conditions": changed})
    assert BOX in world.plan().statuses


def test_what_an_api_server_shows_empty_is_no_news() -> None:
    world = World.running()
    world.resources[BOX] = replace(
        world.resources[BOX], status=dict(world.resources[BOX].status) | {"destinationStates": []}
    )
    assert world.plan().statuses == {}


def test_every_status_is_one_that_the_schema_takes() -> None:
    world = World.running()
    world.report = AgentReport(1, 5, 1, 3.0, {"api": "Delivering"})
    world.put("Route", "shadowed", route("order.*"))
    world.put("Route", "bad", route("***"))
    world.settle()
    models = {kind.name: kind.status for kind in KINDS}
    for ref, resource in world.resources.items():
        models[ref.kind].model_validate(resource.status)


def test_happenings_tell_transitions_only() -> None:
    world = World.running()
    world.edit(ORDERS, topicPattern="***")
    assert [(it.about, it.type, it.reason) for it in world.reconcile().happenings] == [(ORDERS, "Warning", "Invalid")]
    world.edit(ORDERS, topicPattern="****")
    assert world.reconcile().happenings == ()
    world.edit(ORDERS, topicPattern="order.*")
    assert [(it.type, it.reason) for it in world.reconcile().happenings] == [
        ("Normal", "Accepted"),
        ("Normal", "Ready"),
    ]


def test_a_shadow_is_told_once() -> None:
    world = World.running()
    ref = world.put("Route", "z", route("order.created"))
    last = world.settle()
    assert [(it.type, it.reason) for it in last.happenings if it.about == ref] == [("Warning", "Shadowed")]
    assert world.resources[ref].status["shadowedBy"] == "orders"
    assert world.reconcile().happenings == ()
