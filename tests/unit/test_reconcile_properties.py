"""What holds for every sequence of edits."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from queuebox_operator.facts import Ref
from queuebox_operator.record import Entry, read
from services.box_world import BOX, DATABASE, NAMESPACE, World, destination, route
from services.configs import problems

PATTERNS = st.sampled_from(["order.*", "order.**", "a", "**", "x.*.y", "***", "", "a" * 300])
NAMES = st.sampled_from(["api", "other", "third"])
URLS = st.sampled_from(["https://api.example.com", "http://b", "ftp://c", "", "https://u:p@d"])
NOISE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
EXPRESSIONS = st.sampled_from(["$", "{", "$f(", "${x}"]) | st.text(max_size=8)
ROUTES = st.builds(
    lambda pattern, to, more: route(pattern, to, **more),
    PATTERNS,
    NAMES,
    st.fixed_dictionaries(
        {},
        optional={
            "priority": st.integers(-1001, 1001),
            "suspend": st.booleans(),
            "transform": st.fixed_dictionaries({"expression": EXPRESSIONS}),
        },
    ),
)
DESTINATIONS = st.builds(
    lambda url, more: destination(url, **more),
    URLS,
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["http", "kafka", "smtp"]),
            "suspend": st.booleans(),
            "headers": st.dictionaries(st.sampled_from(["a", "A", "b c"]), st.text(max_size=4), max_size=2),
            "extra": NOISE,
        },
    ),
)
BOXES = st.fixed_dictionaries(
    {"database": st.sampled_from([DATABASE, DATABASE | {"url": "mysql://x"}, {"secretRef": {"name": "db"}}])},
    optional={
        "outbox": st.fixed_dictionaries({"batchSize": st.integers(-1, 3)}),
        "retention": st.fixed_dictionaries({"enabled": st.booleans()}),
        "agent": st.fixed_dictionaries({"replicas": st.integers(0, 3)}),
        "suspend": st.booleans(),
    },
)
EDITS = st.one_of(
    st.tuples(st.just("Route"), st.sampled_from(["orders", "r1", "r2"]), ROUTES | st.none()),
    st.tuples(st.just("Destination"), NAMES, DESTINATIONS | st.none()),
    st.tuples(st.just("QueueBox"), st.just(BOX.name), BOXES),
    st.tuples(st.just("Secret"), st.just("db"), st.sampled_from(["1", "2", None])),
)


def carry_out(world: World, edit: tuple[str, str, Any]) -> None:
    kind, name, content = edit
    if kind == "Secret":
        world.secrets.pop(name, None)
        if content:
            world.secret(name, content, "password")
    elif content is None:
        world.resources.pop(Ref(kind, NAMESPACE, name), None)
    else:
        world.put(kind, name, content)


def entries_but(world: World, victim: Ref) -> dict[Ref, Entry]:
    record = read(world.data, NAMESPACE)
    return {ref: entry for ref, entry in record.entries.items() if ref != victim} if record else {}


def assert_that_others_stay(world: World, victim: Ref, specs: list[dict[str, Any]]) -> None:
    world.settle()
    before = entries_but(world, victim)
    assert before
    for spec in specs:
        world.put(victim.kind, victim.name, spec)
        world.reconcile()
        assert entries_but(world, victim) == before


@given(
    st.lists(ROUTES | NOISE.map(lambda noise: {"queueBoxRef": {"name": BOX.name}, "topicPattern": noise}), max_size=6)
)
@settings(max_examples=40, deadline=None)
def test_edits_of_one_route_leave_the_entries_of_all_others(specs: list[dict[str, Any]]) -> None:
    world = World.running()
    victim = world.put("Route", "victim", route("victim.*"))
    assert_that_others_stay(world, victim, specs)


@given(st.lists(DESTINATIONS | st.dictionaries(st.sampled_from(["type", "http", "nats"]), NOISE), max_size=6))
@settings(max_examples=40, deadline=None)
def test_edits_of_one_destination_leave_the_entries_of_all_others(specs: list[dict[str, Any]]) -> None:
    world = World.running()
    victim = world.put("Destination", "victim", destination())
    world.put("Route", "victim", route("victim.*", "victim"))
    assert_that_others_stay(world, victim, specs)


@given(st.lists(EDITS, max_size=8))
@settings(max_examples=50, deadline=None)
def test_a_plan_that_was_carried_out_wants_nothing_more(edits: list[tuple[str, str, Any]]) -> None:
    world = World.running()
    for edit in edits:
        carry_out(world, edit)
        world.reconcile()
    world.roll_out()
    last = world.reconcile()
    again = world.reconcile()
    assert (again.apply, again.delete, again.statuses, again.happenings) == (last.apply, (), {}, ())


@given(st.lists(EDITS, max_size=8))
@settings(max_examples=50, deadline=None)
def test_an_agent_can_read_every_configuration(edits: list[tuple[str, str, Any]]) -> None:
    world = World.running()
    for edit in edits:
        carry_out(world, edit)
        world.reconcile()
    with TemporaryDirectory() as folder:
        secrets = Path(folder, "secret")
        secrets.write_text("letmein")
        text = world.file()
        for key in ("password", "username"):
            text = text.replace(f"file:/run/secrets/queuebox/db/{key}", f"file:{secrets}")
        text = text.replace("file:/run/secrets/queuebox/db/uri", "postgresql://u:p@h/d")
        Path(folder, "queuebox.yml").write_text(text)
        assert problems({}, Path(folder, "queuebox.yml")) == ()


@given(st.lists(EDITS, max_size=8))
@settings(max_examples=25, deadline=None)
def test_the_same_facts_give_the_same_plan(edits: list[tuple[str, str, Any]]) -> None:
    world = World.running()
    for edit in edits:
        carry_out(world, edit)
    assert world.plan() == world.plan()
    json.dumps([*world.plan().apply, *world.plan().statuses.values()])
