"""What the API server refuses, field by field, and what it says."""

import re
from typing import Any

import pytest

from services.cluster import Cluster, Refused
from services.resources import API_VERSION, Change, Refusal, limits, refusals

pytestmark = pytest.mark.kubernetes

LIMITS = list(limits())


def refusal_of(cluster: Cluster, change: Change) -> str:
    """What the API server says of it."""
    wanted: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": change.kind,
        "metadata": {"name": "x"},
        "spec": change.spec(),
    }
    with pytest.raises(Refused) as refused:
        cluster.apply(wanted, namespace="default")
    return refused.value.message


@pytest.mark.parametrize("refusal", refusals(), ids=lambda it: f"{it.change.kind}-{'.'.join(map(str, it.change.path))}")
def test_a_broken_rule_is_refused_in_words(cluster: Cluster, refusal: Refusal) -> None:
    said = refusal_of(cluster, refusal.change)
    assert f"spec.{refusal.server_place}: ".replace("spec..", "spec") in said
    assert refusal.server_words in said


@pytest.mark.parametrize(("change", "keyword", "words"), LIMITS, ids=lambda it: str(it)[:150])
def test_a_value_beyond_a_limit_is_refused(cluster: Cluster, change: Change, keyword: str, words: str) -> None:
    said = refusal_of(cluster, change)
    assert re.search(words, said)
    assert str(change.path[-1]) in said
