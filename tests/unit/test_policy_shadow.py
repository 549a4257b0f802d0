"""A Route is shadowed only when it can be proved."""

import re
import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuebox_agent.domain.pattern import TopicPattern
from queuebox_operator.policy.shadow import covers, shadows

PATTERNS = st.text(alphabet="ab.*", min_size=1, max_size=6).filter(lambda text: "***" not in text)
TOPICS = ["".join(letters) for size in range(5) for letters in product("abc.", repeat=size)]


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("order.*", "order.*"),
        ("order.*", "order.created"),
        ("order.**", "order.*"),
        ("**", "anything"),
        ("*.*", "a.*"),
        ("a*b", "axb"),
        ("a**", "a*b**"),
    ],
)
def test_a_pattern_covers(wide: str, narrow: str) -> None:
    assert covers(wide, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("order.*", "order.a.b"), ("order.*", "order.**"), ("*", "**"), ("a*", "a"), ("a", "a*"), ("*.a", "**")],
)
def test_a_pattern_does_not_cover(wide: str, narrow: str) -> None:
    assert not covers(wide, narrow)


@given(PATTERNS, PATTERNS)
@settings(max_examples=150, deadline=None)
def test_what_is_said_holds_for_every_topic(wide: str, narrow: str) -> None:
    one, other = TopicPattern(wide), TopicPattern(narrow)
    taken = all(one.matches(topic) for topic in TOPICS if other.matches(topic))
    assert taken or not covers(wide, narrow)


def test_the_first_route_that_covers_is_named() -> None:
    routes = [("a", "order.created"), ("b", "order.*"), ("c", "order.**"), ("d", "order.paid"), ("e", "order.created")]
    assert shadows(routes) == {"d": "b", "e": "a"}


def test_a_route_before_a_wider_one_is_not_shadowed() -> None:
    assert shadows([("narrow", "order.created"), ("wide", "**")]) == {}


@pytest.mark.parametrize("pattern", ["a*b{}*", "*{}*", "**a" * 60 + "{}*", "*a*b" * 60 + "{}*", "t.{}.**"])
def test_hostile_patterns_cost_little(pattern: str) -> None:
    routes = [(f"r{number}", pattern.format(number)) for number in range(1000)]
    began = time.process_time()
    shadows(routes)
    assert time.process_time() - began < 2
    assert not re.search("[*]{3}", pattern)
