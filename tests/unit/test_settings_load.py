"""Where the configuration comes from, and which source wins (pages 24 and 25)."""

from pathlib import Path

import pytest
import yaml

from queuebox_agent.errors import Misconfigured
from queuebox_agent.settings import load
from queuebox_api.config import HttpDestination
from services.configs import DATABASE_VARIABLES, NO_FILE, problems

EXAMPLE = Path(__file__).parents[2] / "examples" / "queuebox.yml"
MINIMAL_EXAMPLE = EXAMPLE.with_name("http.yml")
PLACEHOLDERS = {
    "DB_PASSWORD": "letmein1", "ADMIN_TOKEN": "letmein2", "ORDERS_CLIENT_SECRET": "letmein3",
    "STRIPE_WEBHOOK_SECRET": "letmein4",
}  # fmt: skip
FILE = """
database:
  url: jdbc:postgresql://db:5432/queuebox
  username: queuebox
  password: letmein
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "queuebox.yml"
    path.write_text(FILE)
    return path


def test_three_variables_are_enough() -> None:
    database = load(DATABASE_VARIABLES, NO_FILE).database
    assert (database.username, database.type, database.pool_size) == ("queuebox", "postgresql", 10)


def test_the_file_at_the_default_path_is_read(file: Path) -> None:
    assert load({}, file).database.username == "queuebox"


def test_the_named_file_is_read_and_the_default_one_is_not(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other.yml").write_text(FILE.replace("username: queuebox", "username: other"))
    assert load({"QUEUEBOX_CONFIG_FILE": str(tmp_path / "other.yml")}, file).database.username == "other"


def test_an_empty_name_of_a_file_names_none(file: Path) -> None:
    assert load({"QUEUEBOX_CONFIG_FILE": ""}, file).database.username == "queuebox"


def test_a_named_file_that_is_missing_stops_the_start(file: Path) -> None:
    found = problems(DATABASE_VARIABLES | {"QUEUEBOX_CONFIG_FILE": "/nonexistent/x.yml"}, file)
    assert found == ("/nonexistent/x.yml: cannot be read: No such file or directory",)


def test_a_directory_in_the_place_of_the_file_stops_the_start(tmp_path: Path) -> None:
    assert problems(DATABASE_VARIABLES, tmp_path) == (f"{tmp_path}: cannot be read: Is a directory",)


def test_a_variable_wins_over_the_file(file: Path) -> None:
    assert load({"QUEUEBOX_DATABASE_USERNAME": "other"}, file).database.username == "other"


def test_an_empty_variable_is_a_value_and_wins(file: Path) -> None:
    (problem,) = problems({"QUEUEBOX_DATABASE_USERNAME": ""}, file)
    assert problem == "database.username (QUEUEBOX_DATABASE_USERNAME): must not be blank"


def test_without_any_source_the_error_names_the_three() -> None:
    (problem,) = problems({"PATH": "/bin"})
    assert "QUEUEBOX_DATABASE_URL" in problem
    assert str(NO_FILE) in problem
    assert "QUEUEBOX_CONFIG_FILE" in problem
    assert "packaged queuebox.yml" in problem


def test_service_links_alone_are_no_source() -> None:
    (problem,) = problems({"QUEUEBOX_SERVICE_HOST": "10.0.0.1", "QUEUEBOX_PORT": "tcp://10.0.0.1:80"})
    assert problem.startswith("there is no configuration")


def test_one_variable_is_a_source() -> None:
    found = problems({"QUEUEBOX_SERVER_HTTPPORT": "8081"})
    assert [problem.split(":")[0] for problem in found] == [
        "database.url (QUEUEBOX_DATABASE_URL)",
        "database.username (QUEUEBOX_DATABASE_USERNAME)",
        "database.password (QUEUEBOX_DATABASE_PASSWORD)",
    ]


def test_an_empty_file_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "queuebox.yml").write_text("# nothing yet\n")
    assert len(problems({}, tmp_path / "queuebox.yml")) == 3


@pytest.mark.parametrize("text", ["- a", "text", "3"])
def test_a_file_holds_a_block_of_keys(text: str, file: Path) -> None:
    file.write_text(text)
    assert problems(DATABASE_VARIABLES, file) == (f"{file}: must be a block of keys",)


def test_the_example_of_page_25_loads_apart_from_its_source() -> None:
    variables = DATABASE_VARIABLES | {
        "QUEUEBOX_DESTINATIONS_WEBHOOK_TYPE": "http",
        "QUEUEBOX_DESTINATIONS_WEBHOOK_BASEURL": "https://api.example.com",
        "QUEUEBOX_ROUTES_0_TOPICPATTERN": "order.*",
        "QUEUEBOX_ROUTES_0_DESTINATION": "webhook",
    }
    whole = load(variables, NO_FILE)
    webhook = whole.destinations["webhook"]
    assert isinstance(webhook, HttpDestination)
    assert (webhook.base_url, whole.routes[0].topic_pattern) == ("https://api.example.com", "order.*")
    source = {"TYPE": "http", "PATH": "/stripe", "IDEMPOTENCYKEYPATH": "$.id", "EVENTTYPEPATH": "$.type"}
    variables |= {f"QUEUEBOX_SOURCES_STRIPE_{key}": value for key, value in source.items()}
    assert problems(variables) == (
        "sources.stripe (QUEUEBOX_SOURCES_STRIPE): asks for sources, which this version cannot do yet",
    )


def test_the_complete_example_is_valid_apart_from_what_cannot_be_done_yet() -> None:
    found = problems(PLACEHOLDERS, EXAMPLE)
    assert found
    assert [problem for problem in found if not problem.endswith("which this version cannot do yet")] == []


def test_the_minimal_example_is_valid_as_it_stands() -> None:
    whole = load({}, MINIMAL_EXAMPLE)
    assert [(route.topic_pattern, route.destination) for route in whole.routes] == [("**", "webhook")]
    assert isinstance(whole.destinations["webhook"], HttpDestination)


def test_the_supported_part_of_the_complete_example_loads(file: Path) -> None:
    whole = yaml.safe_load(EXAMPLE.read_text())
    whole["sources"], whole["admin"], whole["retention"] = {}, {}, {}
    whole["destinations"] = {"orders-api": whole["destinations"]["orders-api"]}
    whole["routes"] = whole["routes"][:1]
    del whole["destinations"]["orders-api"]["transform"]
    file.write_text(yaml.safe_dump(whole))
    loaded = load(PLACEHOLDERS, file)
    assert loaded.server.management_port == 9090
    assert loaded.inbox.relay.max_attempts == 10
    assert loaded.database.password is not None
    assert loaded.database.password.get_secret_value() == "letmein1"


def test_every_problem_is_told_at_once_with_path_and_variable(file: Path) -> None:
    file.write_text(FILE + "outbox: {batchSise: 1, concurrency: 0}\nroutes: [{topicPattern: '***', destination: x}]\n")
    found = problems({"QUEUEBOX_HTTP_MAXERRORBODYBITES": "1", "QUEUEBOX_ADMIN_ENABLED": "maybe"}, file)
    assert found[0] == (
        "http.maxerrorbodybites (QUEUEBOX_HTTP_MAXERRORBODYBITES): sets no known key; "
        "did you mean QUEUEBOX_HTTP_MAXERRORBODYBYTES?"
    )
    assert set(found[1:]) == {
        "outbox.concurrency (QUEUEBOX_OUTBOX_CONCURRENCY): must be at least 1",
        "outbox.batchSise (QUEUEBOX_OUTBOX_BATCHSISE): is not a known key; did you mean batchSize?",
        "admin.enabled (QUEUEBOX_ADMIN_ENABLED): must be true or false",
        "routes[0].topicPattern (QUEUEBOX_ROUTES_0_TOPICPATTERN): must not hold ***: * is one segment, ** is any text",
        "routes[0].destination (QUEUEBOX_ROUTES_0_DESTINATION): must name a destination; there is none",
    }


def test_the_error_has_no_cause_that_a_traceback_could_show(file: Path) -> None:
    file.write_text("a: b: letmein")
    with pytest.raises(Misconfigured) as raised:
        load({}, file)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    with pytest.raises(Misconfigured) as raised:
        load({"QUEUEBOX_DATABASE_POOLSIZE": "letmein"}, NO_FILE)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)


def test_a_url_that_libpq_would_take_for_another_is_told_with_its_variable() -> None:
    found = problems(DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_URL": "postgresql://a:letmein@letmein@db/x"})
    assert [problem.partition(": is")[0] for problem in found] == ["database.url (QUEUEBOX_DATABASE_URL)"]


def test_a_variable_below_what_is_no_block_in_the_file_does_not_hide_that(file: Path) -> None:
    file.write_text(FILE + "outbox: [1, 2]\n")
    found = problems({"QUEUEBOX_OUTBOX_BATCHSIZE": "4"}, file)
    assert found == ("outbox (QUEUEBOX_OUTBOX): must be a block of keys",)


def test_a_variable_replaces_a_list_whatever_the_file_has_there(file: Path) -> None:
    file.write_text(FILE + "destinations: {x: {baseUrl: https://x}}\nroutes: 5\n")
    variables = {"QUEUEBOX_ROUTES_0_TOPICPATTERN": "**", "QUEUEBOX_ROUTES_0_DESTINATION": "x"}
    assert len(load(variables, file).routes) == 1


@pytest.mark.parametrize("text", ["b\udcff", "\ud800"])
def test_a_text_that_is_no_utf_8_is_refused(text: str) -> None:
    (problem,) = problems(DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_PASSWORD": text})
    assert problem == "database.password (QUEUEBOX_DATABASE_PASSWORD): must be UTF-8 text"


def test_a_user_name_with_a_nul_is_refused(file: Path) -> None:
    file.write_text(FILE.replace("username: queuebox", r'username: "queue\0box"'))
    assert problems({}, file) == ("database.username (QUEUEBOX_DATABASE_USERNAME): must not hold a NUL",)


def test_a_password_file_with_a_nul_is_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b"let\0me")
    found = problems(DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_PASSWORD": f"file:{tmp_path}/password"})
    assert found == ("database.password (QUEUEBOX_DATABASE_PASSWORD): must not hold a NUL",)
