"""The record of a configuration, and the hash that rolls agents."""

from dataclasses import replace
from typing import Any

import pytest

from queuebox_operator.facts import Ref
from queuebox_operator.record import Entry, Record, mount, read
from services.box_world import BOX, DATABASE, NAMESPACE, World

API = Ref("Destination", NAMESPACE, "api")
ORDERS = Ref("Route", NAMESPACE, "orders")


def entry(content: dict[str, Any], priority: int = 0) -> Entry:
    return Entry(1, "2026-01-01T00:00:00Z", content, (("db", "password"),), priority)


def test_a_record_is_read_as_it_was_dumped() -> None:
    it = Record(
        box=entry({"database": {"url": "postgresql://db", "password": mount("db", "password")}}),
        agent={"replicas": 2},
        entries={API: entry({"baseUrl": "http://ä"}), ORDERS: entry({"destination": "api"}, priority=7)},
        versions={"db": "12"},
    )
    assert read({"entries.json": it.dump()}, NAMESPACE) == it


def test_the_hash_does_not_depend_on_the_order_of_keys() -> None:
    one, other = entry({"a": 1, "b": 2}), entry({"b": 2, "a": 1})
    base = Record(entry({"database": {}}), {})
    assert replace(base, entries={API: one}).hash() == replace(base, entries={API: other}).hash()


def test_the_hash_does_not_depend_on_what_agents_do_not_read() -> None:
    base = Record(entry({"database": {}}), {"replicas": 1}, {ORDERS: entry({"destination": "api"})}, {"db": "1"})
    later = replace(
        base, agent={"image": "x"}, entries={ORDERS: replace(base.entries[ORDERS], generation=9, priority=3)}
    )
    unused = replace(base, versions={"db": "1", "unused": "2"})
    assert base.hash() == later.hash() == unused.hash()


def test_a_default_that_is_written_out_rolls_nothing() -> None:
    world = World.running()
    before = world.template_hash
    world.edit(BOX, outbox={"batchSize": 100}, database=DATABASE | {"migrate": True})
    world.edit(API, http={"baseUrl": "https://api.example.com", "path": "/", "timeoutMs": 30000}, headers={})
    world.edit(ORDERS, priority=0, suspend=False)
    world.reconcile()
    assert world.template_hash == before


def test_a_priority_that_changes_no_order_rolls_nothing() -> None:
    world = World.running()
    before = world.template_hash
    world.edit(ORDERS, priority=100)
    world.reconcile()
    assert world.template_hash == before


def test_another_image_does_not_change_the_hash() -> None:
    world = World.running()
    before = world.template_hash
    world.edit(BOX, agent={"image": "registry.example.com/other:2"})
    world.reconcile()
    assert world.template_hash == before


@pytest.mark.parametrize(
    ("sources", "runs"),
    [
        ({}, False),
        ({"a": "pull"}, True),
        ({"a": "pull", "b": "push"}, False),
    ],
)
def test_without_routes_agents_run_for_pull_sources_only(sources: dict[str, str], runs: bool) -> None:  # noqa: FBT001  a table of cases
    entries = {Ref("Source", NAMESPACE, name): entry({"consumption": how}) for name, how in sources.items()}
    assert Record(entry({}), {"replicas": 3}, entries).replicas() == (3 if runs else 0)


def test_the_management_port_avoids_the_data_port() -> None:
    assert Record(entry({"server": {"httpPort": 9090}}), {}).config()["server"]["managementPort"] == 9091
    assert Record(entry({"server": {"managementPort": 7}}), {}).config()["server"]["managementPort"] == 7
