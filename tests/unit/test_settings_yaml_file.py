"""A YAML file: what is refused, where, and never with a word of the file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.errors import Misconfigured
from queuebox_agent.settings.yaml_file import LARGEST_FILE, read_yaml


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "queuebox.yml"


def refusal(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(Misconfigured) as raised:
        read_yaml(path)
    assert raised.value.__context__ is None
    return str(raised.value).removeprefix(f"{path}: ")


def test_a_file_becomes_plain_data(file: Path) -> None:
    file.write_text("\ufeffa: {b: [1, true, x]}\nc:\n")
    assert read_yaml(file) == {"a": {"b": [1, True, "x"]}, "c": None}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("a: letmein: b", "line 1, column 11"),
        ("a:\n\tletmein: b", "line 2, column 1"),
        ("a: 'letmein", "line 1, column 12"),
        ("a: [letmein", "line 1, column 12"),
        ("a: *letmein", "line 1, column 4"),
        ("a: !letmein x", "line 1, column 4"),
        ("a: b\n--- \nletmein: c", "line 2, column 1"),
        ("a: !!python/object/apply:os.system [letmein]", "line 1, column 4"),
        ("? [letmein]\n: x", "line 1, column 3"),
        ("a: %letmein", "line 1, column 4"),
    ],
)
def test_what_is_no_yaml_is_told_by_its_place(content: str, place: str, file: Path) -> None:
    assert refusal(file, content) == f"is not valid YAML at {place}"


@pytest.mark.parametrize("content", ["a: \x00", "a: \x1bletmein", "a: !!int letmein"])
def test_what_yaml_does_not_have_is_refused(content: str, file: Path) -> None:
    assert "letmein" not in refusal(file, content)


def test_a_file_is_utf_8(file: Path) -> None:
    assert refusal(file, b"a: \xff") == "is not UTF-8 text"


def test_a_file_has_at_most_a_mebibyte(file: Path) -> None:
    file.write_bytes(b"#" * LARGEST_FILE)
    assert read_yaml(file) is None
    assert refusal(file, b"#" * (LARGEST_FILE + 1)) == "is larger than 1048576 bytes"


@pytest.mark.parametrize("content", ["letmein: 1\nb: 2\nletmein: 3", "x:\n  letmein: 1\n  'letmein': 1"])
def test_a_key_that_is_set_twice_is_refused(content: str, file: Path) -> None:
    lines = ("1", "3") if content.startswith("l") else ("2", "3")
    text = refusal(file, content)
    assert text.startswith(f"sets a key twice in one block, first in line {lines[0]} and again at line {lines[1]}")


def test_an_alias_stands_for_its_value(file: Path) -> None:
    file.write_text("a: &a {x: 1, y: 2}\nb: *a\n")
    assert read_yaml(file) == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}}


def test_a_merge_is_refused(file: Path) -> None:
    text = "merges a block with <<, which YAML 1.2 does not have, at line 2, column 5"
    assert refusal(file, "a: &a {x: 1}\nb: {<<: *a, x: 2}") == text


def test_aliases_that_grow_without_bound_are_refused(file: Path) -> None:
    levels = ["k0: &a0 [x, x, x]"]
    levels += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert refusal(file, "\n".join(levels)).startswith("holds more than 100000 values at line")


def test_an_alias_inside_of_itself_is_refused(file: Path) -> None:
    assert refusal(file, "a: &a [*a]").startswith("holds an alias inside of what it stands for")


@pytest.mark.parametrize("content", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000])
def test_endless_nesting_is_refused(content: str, file: Path) -> None:
    assert refusal(file, content) == "is nested too deeply"


@given(st.text(alphabet="abc:-[]{}&*!|>'\"%@`#,? \n\t~<\\", max_size=60))
def test_no_file_makes_the_reader_fall_over_or_talk(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yml"
    path.write_text(f"letmein: {text}")
    told = ""
    try:
        read_yaml(path)
    except Misconfigured as error:
        told = str(error)
    assert "letmein" not in told


@pytest.mark.parametrize("number", ["010", "1:30", "0x1F", "0b11", "1_000", "-07"])
def test_a_number_that_two_versions_of_yaml_read_differently_is_refused(file: Path, number: str) -> None:
    text = "holds a number that is not plainly decimal (a text belongs in quotes) at line 1, column 4"
    assert refusal(file, f"a: {number}") == text


@pytest.mark.parametrize("number", ["0", "10", "-5", "+7"])
def test_a_decimal_number_is_taken(file: Path, number: str) -> None:
    file.write_text(f"a: {number}")
    assert read_yaml(file) == {"a": int(number)}
