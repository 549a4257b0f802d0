import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.domain.pattern import TopicPattern

PAGE_11 = [
    ("order.*", "order.created", True),
    ("order.*", "order.paid", True),
    ("order.*", "order", False),
    ("order.*", "order.item.added", False),
    ("order.**", "order.created", True),
    ("order.**", "order.item.added", True),
    ("order.**", "order", False),
    ("**", "anything.at.all", True),
    ("**", "", True),
    ("order.created", "order.created", True),
    ("order.created", "order.updated", False),
]
EDGE_CASES = [
    ("order.*", "order.", False),
    ("order.**", "order.", True),
    ("order.*.completed", "order.line.completed", True),
    ("order.*.completed", "order.completed", False),
    ("order.*.completed", "order.a.b.completed", False),
    ("Order.*", "order.created", False),
    ("a+b(c)[d]?", "a+b(c)[d]?", True),
    ("a+", "aa", False),
    ("order-*", "order-1", True),
    ("*", "a.b", False),
    ("**.created", ".created", True),
    ("order.*", "order.new\nline", True),
]


@pytest.mark.parametrize(("pattern", "topic", "expected"), PAGE_11 + EDGE_CASES)
def test_a_pattern_matches_the_whole_topic(pattern: str, topic: str, *, expected: bool) -> None:
    assert TopicPattern(pattern).matches(topic) is expected


@pytest.mark.parametrize("pattern", ["***", "a.***", "****", "a***b"])
def test_three_stars_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"\*\*\*"):
        TopicPattern(pattern)


@pytest.mark.parametrize("pattern", ["", " ", "\t"])
def test_a_blank_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        TopicPattern(pattern)


SMALL = st.text(alphabet="ab.*", max_size=8).filter(lambda text: text.strip() and "***" not in text)


@given(SMALL, st.text(alphabet="ab.", max_size=8))
def test_a_pattern_means_what_its_regular_expression_means(pattern: str, topic: str) -> None:
    expression = "".join(
        {"**": ".*", "*": "[^.]+"}.get(part, re.escape(part)) for part in re.findall(r"\*\*|\*|.", pattern)
    )
    assert TopicPattern(pattern).matches(topic) == bool(re.fullmatch(expression, topic, re.DOTALL))


@pytest.mark.timeout(2)
def test_a_pattern_of_many_stars_does_not_backtrack() -> None:
    assert not TopicPattern("**a" * 80).matches("a" * 79 + "b" * 176)
