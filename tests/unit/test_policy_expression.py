"""Expressions that do not compile are told with their place; hostile ones cost little."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuebox_operator.policy import findings
from queuebox_operator.policy.expression import MOST_CHARACTERS, MOST_PARTS, MOST_REGEX, json_path_fault, jsonata_fault
from services.box_world import destination, route


@pytest.mark.parametrize(
    "expression",
    ["$", '{ "data": $, "topic": $topic }', "$sum(items.(price * quantity))", "/ab+/i", "a.b[c = 1]^(>d)", "λ($x){$x}"],
)
def test_what_compiles_has_no_fault(expression: str) -> None:
    assert jsonata_fault(expression) is None


@pytest.mark.parametrize(
    ("expression", "position", "text"),
    [
        ('{ "a": $ ', 9, "Expected } before end of expression"),
        ("a b", 3, "Syntax error: b"),
        ('"abc', 4, "String literal must be terminated by a matching quote"),
        ("/(/", 3, "No terminating / in regular expression"),
        ("/*", 2, "ends too early, or holds what the parser cannot read"),
        ("/a**/", 5, "holds a regular expression that does not compile: multiple repeat"),
    ],
)
def test_what_does_not_compile_is_told_with_its_place(expression: str, position: int, text: str) -> None:
    assert jsonata_fault(expression) == (position, text)


def test_what_is_nested_too_deeply_has_a_fault() -> None:
    assert jsonata_fault("[" * 4999) is not None


HOSTILE = {
    "steps": "a." * 2499 + "a",
    "parents": "a.%." * 1200 + "b",
    "sums": "1+" * 2499 + "1",
    "signs": "-" * 4999,
    "more parts than allowed": "a." * 16_000 + "a",
    "astral classes": "/(" + "[\x01-\U0010ffff]" * 199 + ")/i",
    "many astral classes": "/(" + "[\x01-\U0010ffff]" * 6000 + ")/i",
    "wide text and many signs": '"' + "\U0001f600" * 4000 + '"&' + "1+" * 450 + "1",
    "nested blocks": "(" * 4999,
    "nested objects": 'a{"b":' * 600,
    "functions": "λ($a){" * 600,
    "a signature without end": "function($x)<" + "(" * 4000 + ">{$x}",
    "backslashes": "/" + "\\" * 30_000 + "/",
    "comments": "/* */" * 900,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_expression_is_done_with_soon(what: str) -> None:
    began = time.process_time()
    jsonata_fault(HOSTILE[what])
    assert time.process_time() - began < 3


def test_an_expression_is_compiled_once() -> None:
    expression = "a." * 2000 + "once"
    jsonata_fault(expression)
    began = time.process_time()
    jsonata_fault(expression)
    assert time.process_time() - began < 0.01


def test_the_bounds_are_told() -> None:
    assert f"{MOST_CHARACTERS}" in str(jsonata_fault("$" + " " * MOST_CHARACTERS))
    assert f"{MOST_PARTS}" in str(jsonata_fault("1+" * MOST_PARTS))
    assert f"{MOST_REGEX}" in str(jsonata_fault("/" + "a" * 1001 + "/"))


@given(st.text(alphabet="a$%.[](){}<>/*\"'`\\:=~^#@,;?&|!-+ 01λ_nuxim\U0001f600\n", max_size=40))
@settings(max_examples=400, deadline=None)
def test_any_text_compiles_or_has_a_fault(text: str) -> None:
    fault = jsonata_fault(text)
    assert fault is None or 0 <= fault.position <= len(text)


@pytest.mark.parametrize(
    ("path", "position"),
    [("$..id", 1), ("$.a[*]", 3), ("id", 0), ("", 0), ("$.a.b[?(@.c)]", 5), ("$.a[0:1]", 3), ("$['a", 1), ("$.", 1)],
)
def test_a_json_path_of_many_places_is_told_with_its_place(path: str, position: int) -> None:
    fault = json_path_fault(path)
    assert fault is not None
    assert fault.position == position


@given(st.text(alphabet="$.[]'\"ab01*-? ", max_size=12))
@settings(max_examples=300, deadline=None)
def test_a_json_path_is_judged_as_the_configuration_does(path: str) -> None:
    schema_refuses = bool(source_findings(path))
    assert (json_path_fault(path) is not None) == schema_refuses


def source_findings(path: str) -> list[str]:
    spec = {
        "queueBoxRef": {"name": "orders"},
        "type": "http",
        "idempotencyKeyPath": path,
        "topic": "t",
        "http": {"path": "/x"},
    }
    return [text for _, text in findings("Source", spec)]


def test_what_does_not_compile_stands_first() -> None:
    spec = destination("ftp://x", transform={"expression": "{"})
    assert [path for path, _ in findings("Destination", spec)] == [("transform", "expression"), ("http", "baseUrl")]


def test_a_sound_spec_has_no_findings() -> None:
    assert findings("Route", route("a.*", transform={"expression": "$"})) == []
