"""What goes on running when something is wrong, vanishes or is suspended."""

from dataclasses import replace
from typing import Any

import pytest

from queuebox_operator.facts import Ref
from services.box_world import BOX, DATABASE, NAMESPACE, World, destination, route

API = Ref("Destination", NAMESPACE, "api")
ORDERS = Ref("Route", NAMESPACE, "orders")


def test_a_destination_of_a_route_that_keeps_its_last_good_entry_stays() -> None:
    world = World.running()
    world.put("Destination", "new", destination("https://new.example.com"))
    world.edit(ORDERS, destinationRef={"name": "new"}, topicPattern="***")
    world.remove(API)
    world.reconcile()
    assert world.config()["routes"] == [{"destination": "api", "topicPattern": "order.*"}]
    assert set(world.config()["destinations"]) == {"api", "new"}


def test_a_new_route_cannot_name_a_destination_that_is_only_kept() -> None:
    world = World.running()
    world.remove(API)
    world.put("Route", "second", route("second.*"))
    world.reconcile()
    assert [it["topicPattern"] for it in world.config()["routes"]] == ["order.*"]
    assert world.condition(Ref("Route", NAMESPACE, "second"), "ResolvedRefs") == "False DestinationNotFound"


def test_a_kept_destination_goes_with_its_route() -> None:
    world = World.running()
    world.put("Route", "other", route("other.*", "elsewhere"))
    world.put("Destination", "elsewhere", destination())
    world.remove(API)
    world.reconcile()
    world.remove(ORDERS)
    world.reconcile()
    assert set(world.config()["destinations"]) == {"elsewhere"}


@pytest.mark.parametrize(
    "damage", [None, {}, {"entries.json": "{"}, {"entries.json": '{"format":1}'}, {"entries.json": "[]"}]
)
def test_a_damaged_record_is_made_anew_and_rolls_nothing(damage: dict[str, str] | None) -> None:
    world = World.running()
    before = world.template_hash
    world.data = damage
    world.reconcile()
    assert world.template_hash == before
    assert world.condition(ORDERS, "Programmed") == "True Programmed"


def test_a_resource_that_is_being_deleted_counts_as_gone() -> None:
    world = World.running()
    world.put("Route", "second", route("second.*"))
    world.settle()
    second = Ref("Route", NAMESPACE, "second")
    world.resources[second] = replace(world.resources[second], deleting=True)
    made = world.reconcile()
    assert len(world.config()["routes"]) == 1
    assert second not in made.statuses


def test_nothing_is_planned_for_a_box_that_is_being_deleted() -> None:
    world = World.running()
    world.resources[BOX] = replace(world.resources[BOX], deleting=True)
    made = world.plan()
    assert (made.apply, made.delete, made.statuses) == ((), (), {})


def test_a_bad_agent_section_does_not_hold_up_the_others() -> None:
    world = World.running()
    world.edit(BOX, agent={"mode": "Sidecar"}, outbox={"batchSize": 7})
    world.reconcile()
    assert world.config()["outbox"] == {"batchSize": 7}
    assert world.condition(BOX, "Accepted") == "False Unsupported"
    assert world.replicas == 1


def test_a_bad_section_does_not_hold_up_the_agents() -> None:
    world = World.running()
    world.edit(BOX, agent={"replicas": 3}, outbox={"batchSize": 0})
    world.reconcile()
    assert "outbox" not in world.config()
    assert world.replicas == 3


def test_a_secret_that_comes_back_in_another_version_rolls() -> None:
    world = World.running()
    before = world.template_hash
    del world.secrets["db"]
    world.reconcile()
    assert world.template_hash == before
    world.secret("db", "9", "password")
    world.reconcile()
    assert world.template_hash != before


def test_a_secret_whose_keys_nobody_knows_is_taken_for_complete() -> None:
    world = World.running()
    world.secret("db", "2")
    world.reconcile()
    assert world.condition(BOX, "ResolvedRefs") == "True ResolvedRefs"


@pytest.mark.parametrize(
    "edit",
    [
        {"topicPattern": "***"},
        {"destinationRef": {"name": "nowhere"}},
        {"suspend": True, "topicPattern": "x"},
        {"bad": 1},
    ],
)
def test_a_spec_that_was_good_before_goes_on(edit: dict[str, Any]) -> None:
    world = World.running()
    before = world.config()
    world.edit(ORDERS, **edit)
    world.reconcile()
    assert world.config() == before


def test_a_database_url_from_a_secret_is_left_to_the_agent() -> None:
    world = World.running()
    world.secret("db", "1", "url")
    world.edit(BOX, database={"urlSecretRef": {"name": "db", "key": "url"}})
    world.reconcile()
    assert world.config()["database"] == {"url": "file:/run/secrets/queuebox/db/url"}
    assert world.condition(BOX, "Accepted") == "True Accepted"


def test_no_credential_is_ever_in_a_plan() -> None:
    world = World.running()
    world.edit(BOX, database=DATABASE | {"password": "letmein"})
    made = world.reconcile()
    assert "letmein" not in repr(made)
