"""What is wrong with a configuration only as a whole, and who is to blame."""

import json
import time
from typing import Any

from queuebox_operator.facts import Ref
from services.box_world import BOX, NAMESPACE, World, destination, route

API = Ref("Destination", NAMESPACE, "api")
ORDERS = Ref("Route", NAMESPACE, "orders")
HEAVY = {f"x-{number}": "v" * 8000 for number in range(45)}


def test_of_too_many_destinations_the_newest_stays_out() -> None:
    world = World.running()
    for number in range(999):
        world.put("Destination", f"d{number:03}", destination())
    world.reconcile()
    world.put("Destination", "a-late-one", destination())
    world.reconcile()
    assert len(world.config()["destinations"]) == 1000
    assert world.condition(Ref("Destination", NAMESPACE, "a-late-one"), "Accepted") == "False Conflict"
    assert world.condition(API, "Accepted") == "True Accepted"


def test_what_would_not_fit_stays_out_and_the_rest_moves_on() -> None:
    world = World.running()
    for name in ("heavy", "heavier"):
        world.put("Destination", name, destination(headers=HEAVY))
    world.put("Destination", "light", destination())
    world.reconcile()
    assert set(world.config()["destinations"]) == {"api", "heavy", "light"}
    assert world.condition(Ref("Destination", NAMESPACE, "heavier"), "Accepted") == "False Conflict"


def test_an_edit_that_would_not_fit_keeps_the_last_good_entry() -> None:
    world = World.running()
    world.put("Destination", "heavy", destination(headers=HEAVY))
    world.settle()
    world.edit(API, headers=HEAVY)
    world.reconcile()
    assert set(world.config()["destinations"]) == {"api", "heavy"}
    assert "headers" not in world.config()["destinations"]["api"]


def with_entry(world: World, section: str, name: str, content: dict[str, Any]) -> None:
    """As an operator of other rules left it."""
    data = dict(world.data or {})
    entries = json.loads(data["entries.json"])
    entries[section][name]["content"] = content
    world.data = data | {"entries.json": json.dumps(entries)}


def test_a_last_good_entry_that_new_rules_refuse_freezes_the_box() -> None:
    world = World.running()
    with_entry(world, "destinations", "api", {"type": "kafka", "bootstrapServers": "k", "topic": "t"})
    world.edit(API, type="nonsense")
    world.put("Route", "more", route("more.*"))
    made = world.reconcile()
    assert (made.apply, made.delete) == ((), ())
    assert world.condition(API, "Accepted") == "False Invalid"
    assert world.condition(BOX, "Ready") == "False LastGood"
    assert world.condition(Ref("Route", NAMESPACE, "more"), "Ready") == "False NotProgrammed"


def test_a_frozen_box_goes_on_when_the_entry_is_mended() -> None:
    world = World.running()
    with_entry(world, "destinations", "api", {"type": "kafka", "bootstrapServers": "k", "topic": "t"})
    world.reconcile()
    assert world.config()["destinations"]["api"]["type"] == "http"


def test_a_thousand_routes_are_planned_in_less_than_a_second() -> None:
    world = World.running()
    for number in range(1000):
        more: dict[str, Any] = {"transform": {"expression": "{ 'a': $.b }"}} if number % 2 else {}
        world.put("Route", f"r{number:04}", route(f"topic-{number}.*", **more))
    world.reconcile()
    began = time.process_time()
    world.plan()
    assert time.process_time() - began < 1
