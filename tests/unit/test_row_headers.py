import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.domain.headers import row_headers
from queuebox_agent.errors import Rejected

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def test_an_empty_object_has_no_headers() -> None:
    assert row_headers("{}") == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        ('"Zürich \\u2713"', "Zürich ✓"),
        ("7", "7"),
        ("-0.10", "-0.10"),
        ("12345678901234567890123456789.50", "12345678901234567890123456789.50"),
        ("1e400", "1e400"),
        ("true", "true"),
        ("false", "false"),
        ('{"a": [1, 2.50, null], "b": "x"}', '{"a":[1,2.50,null],"b":"x"}'),
        ('["é", true]', '["é",true]'),
        ("[]", "[]"),
    ],
)
def test_a_value_becomes_text(value: str, text: str) -> None:
    assert row_headers(f'{{"X-A": {value}}}') == {"X-A": text}


def test_a_number_of_any_length_keeps_every_digit() -> None:
    digits = "9" * 6000
    assert row_headers(f'{{"X-A": {digits}}}') == {"X-A": digits}


def test_a_null_is_left_out() -> None:
    assert row_headers('{"X-A": null, "X-B": "b"}') == {"X-B": "b"}


@pytest.mark.parametrize(
    "text",
    ["[]", '"text"', "7", "null", "true", "", "{", '{"a": NaN}', "[" * 100_000, '{"a": ' + "[" * 900 + "]" * 900 + "}"],
)
def test_what_is_no_object_of_bounded_depth_is_rejected(text: str) -> None:
    with pytest.raises(Rejected, match="no JSON object, or one that nests too deep"):
        row_headers(text)


@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_text_is_kept_and_everything_else_is_json_text_of_the_same_value(headers: dict[str, object]) -> None:
    for name, text in row_headers(json.dumps(headers)).items():
        value = headers[name]
        assert text == value if isinstance(value, str) else json.loads(text) == value
