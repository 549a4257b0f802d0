from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.domain.reason import LONGEST, MARK, describe, reason


def failure(depth: int) -> BaseException:
    error = ValueError(f"level {depth}")
    if depth:
        error.__cause__ = failure(depth - 1)
    return error


def test_secrets_are_masked() -> None:
    assert reason("HTTP 500: password=hunter2") == "HTTP 500: password=***"


def test_known_secrets_are_masked() -> None:
    assert reason("no such key: hunter2", ["hunter2"]) == "no such key: ***"


def test_2000_characters_stay() -> None:
    assert reason("x" * 2000) == "x" * 2000


def test_a_longer_text_is_cut_to_2000_characters_with_the_mark_among_them() -> None:
    cut = reason("x" * 2001)
    assert len(cut) == LONGEST == 2000
    assert cut.endswith(f"xxx{MARK}")


@given(st.text(max_size=3000))
def test_any_text_becomes_one_that_a_database_stores(text: str) -> None:
    stored = reason(text)
    assert len(stored) <= LONGEST
    assert "\0" not in stored
    stored.encode()


def test_lines_and_tabs_stay() -> None:
    assert reason("a\r\nb\tc") == "a\nb\tc"


def test_an_error_is_named_with_its_type_and_text() -> None:
    assert describe(ValueError("no")) == "ValueError: no"


def test_an_error_without_text_is_named_with_its_type() -> None:
    assert describe(TimeoutError()) == "TimeoutError"


def test_five_causes_at_most() -> None:
    assert describe(failure(9)) == "; caused by ".join(f"ValueError: level {n}" for n in (9, 8, 7, 6, 5))


def test_a_cause_that_was_put_away_is_not_named() -> None:
    error = ValueError("outer")
    error.__context__, error.__suppress_context__ = KeyError("inner"), True
    assert describe(error) == "ValueError: outer"


def test_the_error_that_was_being_handled_is_a_cause() -> None:
    error = ValueError("outer")
    error.__context__ = KeyError("inner")
    assert describe(error) == "ValueError: outer; caused by KeyError: 'inner'"


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert describe(one) == "ValueError: one; caused by ValueError: other"
