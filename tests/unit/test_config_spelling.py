import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_api.spelling import closest, edits


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [("", "", 0), ("", "ab", 2), ("abc", "abc", 0), ("abc", "axc", 1), ("abcd", "acbd", 1), ("kitten", "sitting", 3)],
)
def test_edits(first: str, second: str, count: int) -> None:
    assert edits(first, second) == count


@given(st.text(alphabet="abc", max_size=6), st.text(alphabet="abc", max_size=6))
def test_edits_are_the_same_both_ways(first: str, second: str) -> None:
    assert edits(first, second) == edits(second, first)


KEYS = ["pollIntervalMs", "batchSize", "path", "type", "url"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("pollIntervlMs", "pollIntervalMs"),
        ("PollInterval_ms", "pollIntervalMs"),
        ("pollIntreval-Ms", "pollIntervalMs"),
        ("bacthSize", "batchSize"),
        ("batchSizes2", "batchSize"),
        ("batchSizes23", None),
        ("pahts", None),
        ("paht", "path"),
        ("uri", "url"),
        ("uxx", None),
        ("something", None),
    ],
)
def test_two_edits_are_forgiven_and_one_in_a_short_name(typed: str, meant: str | None) -> None:
    assert closest(typed, KEYS) == meant
