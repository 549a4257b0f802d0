"""What a QUEUEBOX_ variable sets, and how it merges with a file (page 25)."""

from typing import Any

import pytest

from queuebox_agent.settings import load
from queuebox_agent.settings.variables import Variables, settings_in
from services.configs import DATABASE_VARIABLES, NO_FILE, problems, rows

TREE: dict[str, Any] = {
    "server": {"httpPort": 1},
    "destinations": {"Orders": {"baseUrl": "http://x", "timeoutMs": 5, "headers": {"X-Team": "a"}}},
    "routes": [{"topicPattern": "a", "destination": "Orders"}, {"topicPattern": "b", "destination": "Orders"}],
}


def read(tree: dict[str, Any] = TREE, /, **variables: str) -> Variables:
    return settings_in({f"QUEUEBOX_{name}": value for name, value in variables.items()}, tree, set())


def over(tree: dict[str, Any] = TREE, /, **variables: str) -> dict[str, Any]:
    found = read(tree, **variables)
    assert found.problems == []
    return found.over(tree, [])


@pytest.mark.parametrize(("key", "variable"), rows("environment-variables.tsv"))
def test_every_variable_of_page_25_sets_a_key(key: str, variable: str) -> None:
    found = settings_in({variable: "x"}, {}, set())
    assert found.problems == []
    (path,) = found.values
    dotted = "".join(f"[{level}]" if isinstance(level, int) else f".{level}" for level in path)[1:]
    assert dotted == key


def test_a_map_merges_key_by_key() -> None:
    assert over(DESTINATIONS_ORDERS_TIMEOUTMS="9")["destinations"] == {
        "Orders": {"baseUrl": "http://x", "timeoutMs": "9", "headers": {"X-Team": "a"}}
    }


def test_the_tree_of_the_file_is_not_changed() -> None:
    over(SERVER_HTTPPORT="2")
    assert TREE["server"] == {"httpPort": 1}


def test_a_name_of_the_file_is_found_in_any_letter_case() -> None:
    assert over(**{"DESTINATIONS_ORDERS_HEADERS_X-TEAM": "b"})["destinations"]["Orders"]["headers"] == {"X-Team": "b"}


def test_a_new_name_is_lower_case_and_may_hold_an_underscore() -> None:
    assert over(DESTINATIONS_MY__API_BASEURL="http://y")["destinations"]["my_api"] == {"baseUrl": "http://y"}


def test_a_number_can_be_a_name_in_a_map() -> None:
    assert over(DESTINATIONS_ORDERS_HEADERS_5="b")["destinations"]["Orders"]["headers"] == {"X-Team": "a", "5": "b"}


def test_a_list_is_replaced_whole() -> None:
    assert over(ROUTES_0_TOPICPATTERN="c")["routes"] == [{"topicPattern": "c"}]


def test_sparse_indexes_move_together_in_the_order_of_numbers() -> None:
    whole = over(ROUTES_10_DESTINATION="z", ROUTES_5_DESTINATION="y", ROUTES_0_DESTINATION="x")
    assert whole["routes"] == [{"destination": "x"}, {"destination": "y"}, {"destination": "z"}]


def test_lists_in_lists() -> None:
    rules = over(
        SOURCES_ORDERS_FILTER_REQUIRE_0_HEADER="x-region",
        SOURCES_ORDERS_FILTER_REQUIRE_0_IN_0="eu",
        SOURCES_ORDERS_FILTER_REQUIRE_0_IN_7="uk",
        SOURCES_ORDERS_FILTER_EXCLUDE_0_HEADER="x-test",
        SOURCES_ORDERS_FILTER_EXCLUDE_0_EXISTS="true",
    )["sources"]["orders"]["filter"]
    assert rules == {
        "require": [{"header": "x-region", "in": ["eu", "uk"]}],
        "exclude": [{"header": "x-test", "exists": "true"}],
    }


def test_an_index_is_told_as_the_variable_writes_it() -> None:
    found = problems(DATABASE_VARIABLES | {"QUEUEBOX_ROUTES_2_DESTINATION": "x", "QUEUEBOX_ROUTES_7_TOPICPATTERN": "a"})
    assert [problem.split(":")[0] for problem in found] == [
        "routes[0].topicPattern (QUEUEBOX_ROUTES_2_TOPICPATTERN)",
        "routes[1].destination (QUEUEBOX_ROUTES_7_DESTINATION)",
        "routes[0].destination (QUEUEBOX_ROUTES_2_DESTINATION)",
    ]


def test_values_are_typed_by_their_key() -> None:
    variables = {
        "QUEUEBOX_SERVER_HTTPPORT": "8081",
        "QUEUEBOX_DATABASE_MIGRATE": "false",
        "QUEUEBOX_DESTINATIONS_X_BASEURL": "http://x",
        "QUEUEBOX_DESTINATIONS_X_HEADERS_NUMBER": "007",
    }
    whole = load(DATABASE_VARIABLES | variables, NO_FILE)
    assert (whole.server.http_port, whole.database.migrate) == (8081, False)
    assert whole.destinations["x"].headers == {"number": "007"}


@pytest.mark.parametrize(
    ("variable", "suggestion"),
    [
        ("OUTBOX_POLL_INTERVAL_MS", "QUEUEBOX_OUTBOX_POLLINTERVALMS"),
        ("OUTBOX_POLLINTERVLMS", "QUEUEBOX_OUTBOX_POLLINTERVALMS"),
        ("DATABSE_URL", "QUEUEBOX_DATABASE_URL"),
        ("DESTINATIONS_ORDERS_BASE_URL", "QUEUEBOX_DESTINATIONS_ORDERS_BASEURL"),
        ("DESTINATIONS_ORDERS_ATUH_TOKENURL", "QUEUEBOX_DESTINATIONS_ORDERS_AUTH_TOKENURL"),
        ("ROUTES_0_TOPIC_PATTERN", "QUEUEBOX_ROUTES_0_TOPICPATTERN"),
    ],
)
def test_an_unknown_variable_gets_a_suggestion(variable: str, suggestion: str) -> None:
    (problem,) = read(**{variable: "x"}).problems
    assert f"(QUEUEBOX_{variable}): sets no known key; did you mean {suggestion}?" in problem


@pytest.mark.parametrize(
    "variable",
    [
        "FOO",
        "FOO_BAR",
        "DATABASE_URL_X",
        "ROUTES_TOPICPATTERN",
        "ROUTES_X_TOPICPATTERN",
        "SERVER_PORT",
        "",
        "_X",
        "A__",
        "Ä",
    ],
)
def test_an_unknown_variable_stops_the_start(variable: str) -> None:
    (problem,) = read(**{variable: "letmein"}).problems
    assert f"QUEUEBOX_{variable}" in problem
    assert "letmein" not in problem


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("ROUTES", "as in QUEUEBOX_ROUTES_0"),
        ("DATABASE", "as in QUEUEBOX_DATABASE_KEY"),
        ("DESTINATIONS_X", "DESTINATIONS_X_KEY"),
        ("SOURCES_X_TOPICS", "_TOPICS_0"),
    ],
)
def test_a_variable_sets_one_value(variable: str, hint: str) -> None:
    (problem,) = read(**{variable: "x"}).problems
    assert problem.endswith(hint)


def test_two_variables_of_one_key_are_a_problem() -> None:
    assert read(SERVER_HTTPPORT="1", SERVER_httpPort="2").problems == [
        "server.httpPort (QUEUEBOX_SERVER_httpPort): is set by two variables that differ in letter case"
    ]


SERVICE_LINKS = {
    "SERVICE_HOST": "10.0.0.1",
    "SERVICE_PORT": "8080",
    "SERVICE_PORT_HTTP": "8080",
    "PORT": "tcp://10.0.0.1:8080",
    "PORT_8080_TCP": "tcp://10.0.0.1:8080",
    "PORT_8080_TCP_PROTO": "tcp",
    "PORT_8080_TCP_PORT": "8080",
    "PORT_8080_TCP_ADDR": "10.0.0.1",
    "AGENT_SERVICE_HOST": "10.0.0.1",
    "AGENT_SERVICE_PORT_HTTP": "8080",
    "AGENT_PORT": "udp://10.0.0.1:53",
    "AGENT_PORT_53_UDP_ADDR": "10.0.0.1",
    "SERVER_PORT": "tcp://10.0.0.1:8080",
    "DESTINATIONS_SERVICE_HOST": "10.0.0.1",
}


@pytest.mark.parametrize(("variable", "value"), SERVICE_LINKS.items())
def test_a_service_link_of_kubernetes_is_passed_over(variable: str, value: str) -> None:
    found = read(**{variable: value})
    assert (found.problems, found.values) == ([], {})


@pytest.mark.parametrize(
    ("variable", "path"),
    [
        ("OUTBOX_CAPTURE_CONNECTION_PORT", ("outbox", "capture", "connection", "port")),
        ("DESTINATIONS_ORDERS_HEADERS_PORT", ("destinations", "Orders", "headers", "port")),
    ],
)
def test_a_variable_that_sets_a_key_is_never_a_service_link(variable: str, path: tuple[str, ...]) -> None:
    assert read(**{variable: "tcp://10.0.0.1:80"}).values == {path: "tcp://10.0.0.1:80"}


def test_other_variables_and_the_name_of_the_file_are_passed_over() -> None:
    found = settings_in({"PATH": "x", "queuebox_x": "x", "QUEUEBOX_CONFIG_FILE": "x"}, {}, set())
    assert (found.problems, found.values) == ([], {})


def test_what_a_placeholder_reads_is_passed_over() -> None:
    assert settings_in({"QUEUEBOX_DB_PASS": "x"}, {}, {"QUEUEBOX_DB_PASS"}).problems == []
