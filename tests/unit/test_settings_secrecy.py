"""Whatever is wrong with a configuration, no problem holds a secret, and no placeholder problem is told twice."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section
from services.configs import DATABASE_VARIABLES, problems, rows

TAILS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
SECRETS = TAILS.map(lambda tail: f"letmein{tail}")


def is_secret(key: str) -> bool:
    node: Node = ROOT
    for level in key.replace("[0]", ".0").split("."):
        match node:
            case Section():
                node = node.keys[level]
            case Entries(of) | Items(of):
                node = of
            case Leaf():
                raise AssertionError(key)
    return isinstance(node, Leaf) and node.secret


SECRET_VARIABLES = [variable for key, variable in rows("environment-variables.tsv") if is_secret(key)]
OTHER_VARIABLES = [variable for key, variable in rows("environment-variables.tsv") if not is_secret(key)]


def test_page_25_has_these_secrets() -> None:
    assert len(SECRET_VARIABLES) == 22


GUESSES = st.sampled_from(["", "x", "0", "http", "nats", "true"])


@given(
    st.dictionaries(st.sampled_from(SECRET_VARIABLES), SECRETS),
    st.dictionaries(st.sampled_from(OTHER_VARIABLES), GUESSES),
)
@settings(max_examples=60)
def test_no_problem_holds_a_secret(secrets: dict[str, str], others: dict[str, str]) -> None:
    assert [problem for problem in problems(secrets | others) if "letmein" in problem] == []


@given(st.lists(SECRETS | st.integers() | st.booleans() | st.lists(SECRETS), min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_problem_quotes_a_value_of_a_file(tmp_path: Path, values: list[object]) -> None:
    path = tmp_path / "queuebox.yml"
    keys = ["database", "destinations", "routes", "retention"]
    path.write_text(yaml.safe_dump({key: {"url": value, "x": value} for key, value in zip(keys, values, strict=False)}))
    found = problems({}, path)
    assert found
    assert [problem for problem in found if "letmein" in problem] == []


def test_a_value_without_its_placeholder_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "queuebox.yml"
    path.write_text("database: {url: '${URL}', username: '${WHO}', password: '${PASSWORD}', poolSize: '${SIZE}'}")
    assert [problem.split(",")[0] for problem in problems({}, path)] == [
        "database.url (QUEUEBOX_DATABASE_URL): reads URL",
        "database.username (QUEUEBOX_DATABASE_USERNAME): reads WHO",
        "database.password (QUEUEBOX_DATABASE_PASSWORD): reads PASSWORD",
        "database.poolSize (QUEUEBOX_DATABASE_POOLSIZE): reads SIZE",
    ]


def test_a_placeholder_that_a_variable_replaces_needs_no_value(tmp_path: Path) -> None:
    path = tmp_path / "queuebox.yml"
    path.write_text("database: {password: '${PASSWORD}'}\nroutes: [{destination: '${WHERE}'}]")
    found = problems(DATABASE_VARIABLES | {"QUEUEBOX_ROUTES_0_DESTINATION": "x"}, path)
    assert [problem.split(" ")[0] for problem in found] == ["routes[0].topicPattern", "routes[0].destination"]


@pytest.mark.parametrize("name", ["QUEUEBOX_DB_PASS", "DB_PASS"])
def test_a_placeholder_may_read_any_variable(name: str, tmp_path: Path) -> None:
    path = tmp_path / "queuebox.yml"
    path.write_text(f"database: {{url: 'postgresql://db/x', username: u, password: '${{{name}}}'}}")
    assert problems({name: "letmein"}, path) == ()
