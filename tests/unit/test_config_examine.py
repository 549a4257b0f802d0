"""Whatever a tree holds, `examine` says what is wrong with it and never falls over."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuebox_api.config import Config, Rule, ServerConfig
from queuebox_api.config.examine import examine
from queuebox_api.config.partial import UNREADABLE
from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section
from queuebox_api.unsupported import unsupported
from services.configs import tree, wrong

WORDS = ["http", "kafka", "nats", "bearer", "hmac", "AGE", "https://x", "$.id", "x", "", "7d", "5", "true"]
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(WORDS),
    st.none(),
    st.booleans(),
    st.integers(-1, 70_000),
    st.floats(),
    st.just(UNREADABLE),
    st.just([]),
)


def mostly(form: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 9).flatmap(lambda n: form if n else VALUES)


def trees(node: Node = ROOT) -> st.SearchStrategy[Any]:
    """Mostly of the right form, with wrong values, missing keys and unknown ones."""
    match node:
        case Leaf():
            return VALUES
        case Section():
            keys = {key: st.deferred(lambda child=child: trees(child)) for key, child in node.keys.items()}  # type: ignore[misc]  # bound now
            return mostly(st.fixed_dictionaries({}, optional=keys | {"unknown": VALUES}))
        case Entries(of):
            return mostly(st.dictionaries(st.sampled_from(["a", "b", " "]), trees(of), max_size=2))
        case Items(of):
            return mostly(st.lists(trees(of), max_size=2))


@given(st.fixed_dictionaries({}, optional={key: trees(child) for key, child in ROOT.keys.items()}))
@settings(max_examples=200)
def test_any_tree_is_examined(whole: dict[str, Any]) -> None:
    config, findings = examine(whole)
    assert isinstance(config, Config)
    assert all(finding.text for finding in findings)
    unsupported(config)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_unknown_sections_are_found(whole: dict[str, Any]) -> None:
    unknown = {key for key in whole if key not in ROOT.keys}
    assert {str(finding.path[0]) for finding in examine(whole)[1] if finding.path[0] in unknown} == unknown


def test_a_rule_that_reads_an_invalid_key_is_not_told() -> None:
    assert wrong(tree(server={"httpPort": 0, "managementPort": 8080})) == {"server.httpPort": "must be at least 1"}


def test_a_rule_that_reads_valid_keys_is_told_beside_an_invalid_one() -> None:
    found = wrong(tree(admin={"enabled": True, "maxPayloadBytes": 0}))
    assert set(found) == {"admin.auth", "admin.maxPayloadBytes"}


def test_an_unknown_key_of_a_nested_block_is_found() -> None:
    found = wrong(
        tree("sources.x", {"path": "/x", "idempotencyKeyPath": "$.id", "topic": "x", "filter": {"requires": []}})
    )
    assert found == {"sources.x.filter.requires": "is not a known key; did you mean require?"}


def test_a_key_without_a_blank_behind_its_colon_is_told_without_its_value() -> None:
    found = wrong(tree(database={"url": "postgresql://db/x", "username": "u", "password:letmein": None}))
    assert found == {
        "database['password:']": "is not a known key; did you mean password?",
        "database.password": "is required, unless the URL carries a password",
    }


def test_a_key_that_looks_like_a_mark_of_the_models_keeps_its_place() -> None:
    assert wrong(tree(server={"[key]": 5})) == {"server['[key]']": "is not a known key"}


def test_a_slip_in_a_rule_is_not_taken_for_a_key_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServerConfig, "rules", (Rule("true", "never", lambda it: bool(it.no_such_key)),))
    with pytest.raises(AttributeError, match="no_such_key"):
        examine(tree(server={"httpPort": 0}))


def test_as_many_wrong_routes_as_there_may_be_are_told_within_seconds() -> None:
    routes = [{"topicPattern": "a", "destination": "nowhere"}] * 10_000
    began = time.process_time()
    assert len(examine(tree(routes=routes))[1]) == 10_000
    assert time.process_time() - began < 10
