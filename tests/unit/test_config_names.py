import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section
from queuebox_api.names import Path, dotted, path_of, variable_of
from services.configs import rows

TABLE = rows("environment-variables.tsv")
SAMPLE_NAMES = {"destinations": "orders", "sources": "orders", "headers": "xteam", "extraParams": "audience"}


def parsed(key: str) -> Path:
    return tuple(int(level) if level.isdigit() else level for level in re.findall(r"[^.\[\]]+", key))


def lower(path: Path) -> Path:
    return tuple(level.lower() if isinstance(level, str) else level for level in path)


def leaves(node: Node = ROOT, path: Path = ()) -> set[str]:
    match node:
        case Leaf():
            return {dotted(path)}
        case Section():
            return {leaf for key, child in node.keys.items() for leaf in leaves(child, (*path, key))}
        case Items(of):
            return leaves(of, (*path, 0))
        case Entries(of):
            return leaves(of, (*path, SAMPLE_NAMES[str(path[-1])]))


@pytest.mark.parametrize(("key", "variable"), TABLE)
def test_a_key_of_page_25_has_its_variable(key: str, variable: str) -> None:
    assert variable_of(parsed(key)) == variable


@pytest.mark.parametrize(("key", "variable"), TABLE)
def test_a_variable_of_page_25_has_its_key_in_lower_case(key: str, variable: str) -> None:
    assert path_of(variable) == lower(parsed(key))


def test_page_25_lists_every_key_of_the_models_and_no_other() -> None:
    assert leaves() == {key for key, _ in TABLE}


@pytest.mark.parametrize(
    ("variable", "path"),
    [
        ("QUEUEBOX_DATABASE_URL", ("database", "url")),
        ("QUEUEBOX_SERVER_HTTPPORT", ("server", "httpport")),
        ("QUEUEBOX_SOURCES_STRIPE_PATH", ("sources", "stripe", "path")),
        ("QUEUEBOX_DESTINATIONS_MY__API_BASEURL", ("destinations", "my_api", "baseurl")),
        ("QUEUEBOX_ROUTES_0_TOPICPATTERN", ("routes", 0, "topicpattern")),
        ("QUEUEBOX_SOURCES_ORDERS_TOPICS_0", ("sources", "orders", "topics", 0)),
        ("QUEUEBOX_OUTBOX_POLL_INTERVAL_MS", ("outbox", "poll", "interval", "ms")),
        ("QUEUEBOX_DESTINATIONS_A___B", ("destinations", "a_", "b")),
        ("QUEUEBOX_DESTINATIONS_007_PATH", ("destinations", "007", "path")),
    ],
)
def test_the_naming_rule(variable: str, path: Path) -> None:
    assert path_of(variable) == path


@pytest.mark.parametrize("name", ["", "PATH", "QUEUEBOX_", "QUEUEBOX__", "QUEUEBOX__A", "QUEUEBOX_A_", "QUEUEBOX_Ä"])
def test_a_name_that_no_path_has_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"level|starts"):
        path_of(name)


@pytest.mark.parametrize("path", [(), ("_a",), ("a", ""), ("a b",), ("a=b",), ("ä",), ("a\n",)])
def test_a_path_that_no_variable_reaches_has_none(path: Path) -> None:
    assert variable_of(path) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "the file"),
        (("routes", 0, "topicPattern"), "routes[0].topicPattern"),
        (("destinations", "orders-api", "headers", "X-Team"), "destinations.orders-api.headers.X-Team"),
        (("destinations", "a.b\n"), "destinations['a.b\\n']"),
        (("database", "password:letmein"), "database['password:']"),
        (("database", "password=letmein"), "database['password=']"),
    ],
)
def test_a_path_reads_as_in_the_file(path: Path, text: str) -> None:
    assert dotted(path) == text


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]*", fullmatch=True)
PATHS = st.lists(NAMES | st.integers(0, 999), min_size=1, max_size=6).map(tuple)


@given(PATHS)
def test_a_path_comes_back_from_its_variable_in_lower_case(path: Path) -> None:
    variable = variable_of(path)
    assert variable is not None
    assert path_of(variable) == lower(path)


@given(st.text(alphabet="QUEBOXab_019-.é", max_size=20).map(lambda rest: f"QUEUEBOX_{rest}"))
def test_a_variable_comes_back_from_its_path_or_has_none(variable: str) -> None:
    try:
        path = path_of(variable)
    except ValueError:
        return
    assert variable_of(path) == variable.upper()
