"""`check` refuses what an API server refuses, at the same place."""

import pytest

from queuebox_api.names import dotted
from queuebox_api.resources import check
from services.resources import Change, Refusal, changed, limits, path_of, refusals, sample, samples

LIMITS = list(limits())


@pytest.mark.parametrize("one", samples(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_nothing_is_wrong_with_a_valid_resource(one: dict[str, object]) -> None:
    assert check(str(one["kind"]), one["spec"]) == []  # type: ignore[arg-type]  # a spec is a map


@pytest.mark.parametrize("refusal", refusals(), ids=lambda it: f"{it.change.kind}-{'.'.join(map(str, it.change.path))}")
def test_a_broken_rule_is_found(refusal: Refusal) -> None:
    found = {dotted(finding.path): finding.text for finding in check(refusal.change.kind, refusal.change.spec())}
    assert found[refusal.place.replace(".", "the file") if refusal.place == "." else refusal.place] == refusal.words


@pytest.mark.parametrize(("change", "keyword", "words"), LIMITS, ids=lambda it: str(it)[:150])
def test_a_value_beyond_a_limit_is_found(change: Change, keyword: str, words: str) -> None:
    found = [finding.path for finding in check(change.kind, change.spec())]
    assert any(path[: len(change.path)] == change.path for path in found)


def test_everything_is_found_at_once() -> None:
    spec = changed(sample("Destination", "http")["spec"], path_of("http.timeoutMs"), 0)
    spec = changed(spec, path_of("http.path"), "/../x")
    found = {dotted(finding.path) for finding in check("Destination", spec)}
    assert found == {"http.timeoutMs", "http.path"}


def test_a_finding_quotes_no_value() -> None:
    spec = changed(sample("QueueBox", "whole")["spec"], path_of("database.url"), "postgresql://shop:letmein@db/shop")
    assert "letmein" not in str(check("QueueBox", spec))


@pytest.mark.parametrize("spec", [{}, {"type": "http"}, {"type": 3, "http": []}, {"http": "x", "queueBoxRef": None}])
@pytest.mark.parametrize("kind", ["QueueBox", "Source", "Destination", "Route"])
def test_a_spec_of_any_shape_can_be_checked(kind: str, spec: dict[str, object]) -> None:
    assert check(kind, spec)
