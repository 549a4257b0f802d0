"""Keys of a file match in any letter case, and whatever their - and _ (edge-cases 2.1); names of the user do not."""

from typing import Any

import pytest

from queuebox_agent.settings.keys import canonical
from queuebox_api.config import Finding
from queuebox_api.config.partial import UNREADABLE


def read(tree: Any) -> tuple[Any, list[Finding]]:
    findings: list[Finding] = []
    return canonical(tree, findings), findings


@pytest.mark.parametrize("key", ["pollIntervalMs", "poll-interval-ms", "POLL_INTERVAL_MS", "pollintervalms"])
def test_a_key_has_any_spelling(key: str) -> None:
    assert read({"OUTBOX": {key: 5}}) == ({"outbox": {"pollIntervalMs": 5}}, [])


def test_names_of_the_user_stay_as_they_are() -> None:
    tree = {"Destinations": {"My-Api_1": {"base-url": "x", "Headers": {"X-Team_A": "y"}}}}
    assert read(tree) == ({"destinations": {"My-Api_1": {"baseUrl": "x", "headers": {"X-Team_A": "y"}}}}, [])


def test_lists_are_walked() -> None:
    tree = {"sources": {"x": {"filter": {"require": [{"HEADER": "a", "IN": ["b"]}]}}}}
    assert read(tree)[0]["sources"]["x"]["filter"]["require"] == [{"header": "a", "in": ["b"]}]


def test_an_unknown_key_stays_as_it_is() -> None:
    assert read({"outbox": {"Poll-Intervall": {"A-b": 1}}}) == ({"outbox": {"Poll-Intervall": {"A-b": 1}}}, [])


def test_two_spellings_of_one_key_are_a_finding() -> None:
    tree, findings = read({"outbox": {"batchSize": 1, "batch-size": 2}})
    assert tree == {"outbox": {"batchSize": 1}}
    assert findings == [Finding(("outbox", "batchSize"), "is set twice, in two spellings")]


@pytest.mark.parametrize("name", [1, True, None, 1.5])
def test_a_name_that_is_no_text_is_a_finding(name: object) -> None:
    assert read({"destinations": {name: {}}})[1] == [
        Finding(("destinations", str(name)), "is no text: put the name in quotes")
    ]


def test_blocks_maps_and_lists_may_be_empty() -> None:
    tree = {"outbox": None, "destinations": None, "routes": None, "sources": {"x": {"filter": None}}}
    assert read(tree) == ({"outbox": {}, "destinations": {}, "routes": [], "sources": {"x": {"filter": {}}}}, [])


def test_a_value_may_not_be_left_empty() -> None:
    tree, findings = read({"server": {"managementPort": None}})
    assert tree["server"]["managementPort"] is UNREADABLE
    assert findings == [Finding(("server", "managementPort"), "has no value: give it one, or leave the key out")]


@pytest.mark.parametrize("tree", ["x", 3, None, [1], {"outbox": 3, "routes": {"a": 1}, "destinations": [2]}])
def test_what_has_another_form_is_left_to_the_models(tree: object) -> None:
    assert read(tree) == (tree if tree is not None else {}, [])
