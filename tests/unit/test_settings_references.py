"""file: in the place of a secret (page 23)."""

from pathlib import Path

import pytest

from queuebox_agent.settings import load
from queuebox_agent.settings.references import LARGEST_SECRET
from services.configs import DATABASE_VARIABLES, NO_FILE, problems


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return tmp_path / "secret"


def password(secret: Path) -> str:
    database = load(DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_PASSWORD": f"file:{secret}"}, NO_FILE).database
    assert database.password is not None
    return database.password.get_secret_value()


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("letmein", "letmein"),
        ("letmein\n", "letmein"),
        ("letmein\r\n", "letmein"),
        ("letmein\n\n", "letmein"),
        (" let\nme in \t\n", " let\nme in \t"),
        ("", ""),
        ("file:/etc/passwd", "file:/etc/passwd"),
        ("${HOME}", "${HOME}"),
        ("ä", "ä"),
    ],
)
def test_a_file_gives_the_secret_without_the_line_ends_at_its_end(content: str, value: str, secret: Path) -> None:
    secret.write_bytes(content.encode())
    assert password(secret) == value


def test_a_url_may_come_from_a_file(secret: Path) -> None:
    secret.write_text("postgresql://me:letmein@db/x\n")
    database = load({"QUEUEBOX_DATABASE_URL": f"file:{secret}"}, NO_FILE).database
    assert database.url.get_secret_value() == "postgresql://me:letmein@db/x"


@pytest.mark.parametrize(
    ("keys", "secret_key"),
    [
        ({"AUTH_CLIENTID": "x", "AUTH_TOKENURL": "http://x"}, "AUTH_CLIENTSECRET"),
        ({"AUTH_USERNAME": "x"}, "AUTH_PASSWORD"),
        ({}, "AUTH_HEADERVALUE"),
    ],
)
def test_a_credential_of_a_destination_may_come_from_a_file(
    keys: dict[str, str], secret_key: str, secret: Path
) -> None:
    secret.write_text("letmein\n")
    keys |= {"BASEURL": "http://x", secret_key: f"file:{secret}"}
    variables = {f"QUEUEBOX_DESTINATIONS_X_{key}": value for key, value in keys.items()}
    destination = load(DATABASE_VARIABLES | variables, NO_FILE).destinations["x"]
    auth = destination.auth  # type: ignore[union-attr]  # an http destination
    values = [getattr(auth, key, None) for key in ("client_secret", "password", "header_value")]
    assert [value.get_secret_value() for value in values if value] == ["letmein"]


@pytest.mark.parametrize("key", ["url", "connectionUrl", "servers", "saslPassword", "password", "token"])
def test_broker_urls_and_credentials_are_secrets_too(key: str, secret: Path, tmp_path: Path) -> None:
    section = "sources" if key == "connectionUrl" else "destinations"
    (tmp_path / "queuebox.yml").write_text(f"{section}: {{x: {{{key}: 'file:{secret}'}}}}")
    expected = f"the file {secret} cannot be read: No such file or directory"
    assert any(problem.endswith(expected) for problem in problems(DATABASE_VARIABLES, tmp_path / "queuebox.yml"))


def test_any_other_key_takes_the_text_as_it_is(secret: Path) -> None:
    secret.write_text("letmein")
    whole = load(DATABASE_VARIABLES | {"QUEUEBOX_OUTBOX_CAPTURE_STATEDIRECTORY": f"file:{secret}"}, NO_FILE)
    assert whole.outbox.capture.state_directory == f"file:{secret}"


def unreadable(name: str) -> str:
    (problem,) = problems(DATABASE_VARIABLES | {"QUEUEBOX_DATABASE_PASSWORD": f"file:{name}"})
    return problem.removeprefix("database.password (QUEUEBOX_DATABASE_PASSWORD): ")


def test_a_missing_file_is_named() -> None:
    assert unreadable("/nonexistent/x") == "the file /nonexistent/x cannot be read: No such file or directory"


def test_a_directory_is_named(tmp_path: Path) -> None:
    assert unreadable(str(tmp_path)) == f"the file {tmp_path} cannot be read: Is a directory"


@pytest.mark.parametrize("content", [b"letmein\xff", b"x" * (LARGEST_SECRET + 1)])
def test_nothing_is_told_of_the_content_of_a_bad_file(content: bytes, secret: Path) -> None:
    secret.write_bytes(content)
    text = unreadable(str(secret))
    assert str(secret) in text
    assert "letmein" not in text


def test_a_name_that_no_file_has_is_told() -> None:
    assert "no possible name" in unreadable("/a\x00b")


def test_an_empty_file_is_no_credential(secret: Path) -> None:
    secret.write_text("\n")
    keys = {"BASEURL": "http://x", "AUTH_HEADERVALUE": f"file:{secret}"}
    variables = {f"QUEUEBOX_DESTINATIONS_X_{key}": value for key, value in keys.items()}
    (problem,) = problems(DATABASE_VARIABLES | variables)
    assert problem.endswith("_AUTH_HEADERVALUE): must not be blank")
