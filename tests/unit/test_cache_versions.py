"""What is believed of an object when news of it comes late, twice, in any order, or not at all."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_operator.facts import Ref, SecretFact
from queuebox_operator.kube.cache import Cache
from queuebox_operator.kube.objects import Held, data_keys

NAME = Ref("Secret", "shop", "database")


def secret(version: int) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop", "name": "database", "resourceVersion": str(version)}}


class Believed:
    """The version that is held after all that was told; None when it is gone."""

    def __init__(self) -> None:
        self.cache = Cache(self._changed)
        self.version: str | None = None
        self.changes = 0

    def _changed(self, ref: Ref, old: Held | None, new: Held | None) -> None:
        assert ref == NAME
        self.changes += 1
        self.version = new.version if isinstance(new, SecretFact) else None


@pytest.fixture
def believed() -> Believed:
    return Believed()


def test_the_same_news_twice_is_one_change(believed: Believed) -> None:
    believed.cache.saw("Secret", secret(5))
    believed.cache.saw("Secret", secret(5))
    assert believed.changes == 1


def test_an_answer_that_comes_after_the_end_brings_nothing_back(believed: Believed) -> None:
    believed.cache.saw("Secret", secret(5))
    believed.cache.saw("Secret", secret(7), gone=True)
    believed.cache.saw("Secret", secret(6))
    assert believed.version is None


def test_what_is_made_again_is_there_again(believed: Believed) -> None:
    believed.cache.saw("Secret", secret(5), gone=True)
    believed.cache.saw("Secret", secret(6))
    assert believed.version == "6"


@pytest.mark.parametrize("namespace", [None, "shop"])
def test_a_list_without_it_ends_it(believed: Believed, namespace: str | None) -> None:
    believed.cache.saw("Secret", secret(5))
    believed.cache.replace("Secret", namespace, 9, [])
    believed.cache.saw("Secret", secret(8))
    assert believed.version is None


def test_a_list_that_is_older_than_an_answer_ends_nothing(believed: Believed) -> None:
    believed.cache.saw("Secret", secret(12))
    believed.cache.replace("Secret", None, 9, [])
    assert believed.version == "12"


def test_the_list_of_another_namespace_ends_nothing(believed: Believed) -> None:
    believed.cache.saw("Secret", secret(5))
    believed.cache.replace("Secret", "other", 9, [])
    assert believed.version == "5"


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_in_any_order_the_newest_news_is_believed(gone: list[bool], chance: random.Random) -> None:
    believed = Believed()
    news = list(enumerate(gone, start=1))
    chance.shuffle(news)
    for version, is_gone in news:
        believed.cache.saw("Secret", secret(version), gone=is_gone)
    assert believed.version == (None if gone[-1] else str(len(gone)))


def test_the_keys_of_a_secret_are_those_that_anybody_owns() -> None:
    managed: list[dict[str, Any]] = [
        {"fieldsV1": {"f:data": {".": {}, "f:uri": {}}, "f:type": {}}},
        {"fieldsV1": {"f:stringData": {"f:password": {}}}},
        {},
    ]
    assert data_keys(managed) == frozenset({"uri", "password"})


@pytest.mark.parametrize("managed", [[], [{}], [{"fieldsV1": {}}]])
def test_where_nobody_owns_anything_keys_are_not_known(managed: list[dict[str, Any]]) -> None:
    assert data_keys(managed) is None


@pytest.mark.parametrize(
    "fields", [{"f:type": {}}, {"f:data": {}}, {"f:data": {".": {}}}, {"f:data": None, "f:type": {}}]
)
def test_where_others_are_owned_and_no_key_there_is_none(fields: dict[str, Any]) -> None:
    assert data_keys([{"fieldsV1": fields}]) == frozenset()
