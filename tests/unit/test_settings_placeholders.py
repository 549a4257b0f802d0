"""${NAME} and ${NAME:-fallback} (page 24)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.settings.placeholders import Placeholders
from queuebox_api.config.partial import UNREADABLE

ENVIRON = {"NAME": "value", "EMPTY": "", "NESTED": "${NAME}", "a.b": "dotted"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("plain", "plain"),
        ("${NAME}", "value"),
        ("Bearer ${NAME}!", "Bearer value!"),
        ("${NAME}${NAME}", "valuevalue"),
        ("${NAME:-fallback}", "value"),
        ("${OTHER:-fallback}", "fallback"),
        ("${OTHER:-}", ""),
        ("${OTHER:-a b:-c'd}", "a b:-c'd"),
        ("${EMPTY}", ""),
        ("${EMPTY:-fallback}", "fallback"),
        ("${NESTED}", "${NAME}"),
        ("${a.b}", "dotted"),
        ("$NAME", "$NAME"),
        ("{{ NAME }}", "{{ NAME }}"),
    ],
)
def test_a_placeholder_is_replaced(text: str, expanded: str) -> None:
    placeholders = Placeholders(ENVIRON)
    assert placeholders.expanded(text) == expanded
    assert placeholders.findings == []


def test_placeholders_are_replaced_wherever_values_stand_and_not_in_keys() -> None:
    tree = {"a": {"${NAME}": ["${NAME}", 3, None, True]}}
    assert Placeholders(ENVIRON).expanded(tree) == {"a": {"${NAME}": ["value", 3, None, True]}}


def test_a_name_without_value_is_told_with_its_path() -> None:
    placeholders = Placeholders(ENVIRON)
    assert placeholders.expanded({"a": ["x", "${OTHER}"]}) == {"a": ["x", UNREADABLE]}
    (finding,) = placeholders.findings
    assert finding.path == ("a", 1)
    assert finding.text == "reads OTHER, which the environment does not hold; set it, or write ${OTHER:-fallback}"


@pytest.mark.parametrize(
    "text",
    [
        *("${}", "${A-B}", "${1A}", "${NAME:fallback}", "${NAME-fallback}", "${Ä}", "${:-x}"),
        *("${ NAME }", "${NAME", "x${", "${OTHER:-${NAME}", "${OTHER:-${NAME:-x}}", "${'NAME'}", '${ "data": $ }'),
    ],
)
def test_what_looks_like_a_placeholder_and_is_none_is_told(text: str) -> None:
    placeholders = Placeholders(ENVIRON)
    assert placeholders.expanded(text) is UNREADABLE
    assert [finding.text.partition(";")[0] for finding in placeholders.findings] == [
        "holds a placeholder that is neither ${NAME} nor ${NAME:-fallback}"
    ]


def test_an_expression_may_begin_an_object_behind_a_dollar() -> None:
    tree = {"routes": [{"transform": {"expression": '${ "data": $ } & "${NAME}"'}}]}
    placeholders = Placeholders(ENVIRON)
    assert placeholders.expanded(tree) == {"routes": [{"transform": {"expression": '${ "data": $ } & "value"'}}]}
    assert placeholders.findings == []


def test_the_names_that_are_read_are_known() -> None:
    placeholders = Placeholders(ENVIRON)
    placeholders.expanded(["${NAME}", "${OTHER:-x}", "${MISSING}"])
    assert placeholders.names == {"NAME", "OTHER", "MISSING"}


@given(st.text(alphabet="${}NAME:-x ", max_size=20))
def test_a_value_is_never_expanded_again(value: str) -> None:
    assert Placeholders({"NAME": value}).expanded("${NAME}") == value
