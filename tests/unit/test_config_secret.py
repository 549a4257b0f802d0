from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from queuebox_api.config import Config, DatabaseConfig, Secret, SecretUrl
from services.configs import config


@pytest.mark.parametrize(("value", "mask"), [("letmein", "Secret(***)"), ("", "Secret(empty)")])
def test_a_secret_prints_as_a_mask(value: str, mask: str) -> None:
    assert (str(Secret(value)), repr(Secret(value)), f"{Secret(value)}") == (mask, mask, mask)


def test_a_secret_still_gives_its_value() -> None:
    assert config().database.password == Secret("letmein")
    assert config().database.password.get_secret_value() == "letmein"  # type: ignore[union-attr]  # it is set


@pytest.mark.parametrize(
    ("url", "mask"),
    [
        ("jdbc:postgresql://db:5432/queuebox", "jdbc:postgresql://db:5432/queuebox"),
        ("jdbc:postgresql://db:5432/queuebox?user=me&password=letmein", "jdbc:postgresql://db:5432/queuebox?***"),
        ("jdbc:postgresql://a:1,b:2/queuebox", "jdbc:postgresql://a:1,b:2/queuebox"),
        ("jdbc:sqlserver://db:1433;databaseName=x;password=letmein", "jdbc:sqlserver://db:1433;***"),
        ("postgresql://me:letmein@db/queuebox", "postgresql://me:***@db/queuebox"),
        ("amqp://me:letmein@rabbitmq:5672/orders", "amqp://me:***@rabbitmq:5672/orders"),
        ("nats://letmein@nats:4222", "nats://***@nats:4222"),
        ("postgresql://me:letmein@[::1]:5432/my_db", "postgresql://me:***@[::1]:5432/my_db"),
        ("jdbc:postgresql://my_db/x", "jdbc:postgresql://my_db/x"),
        ("postgresql://me:let/me@in@db/queuebox", "Secret(***)"),
        ("postgresql://me:12?letmein@db/queuebox", "Secret(***)"),
        ("nats://a:letmein@x:1,nats://b:letmein@y:2", "Secret(***)"),
        ("jdbc:postgresql://db/q&user=me&password=letmein", "Secret(***)"),
        ("jdbc:postgresql://db/password=letmein", "Secret(***)"),
        ("letmein", "Secret(***)"),
        ("", "Secret(empty)"),
    ],
)
def test_a_url_prints_without_its_password(url: str, mask: str) -> None:
    assert (str(SecretUrl(url)), repr(SecretUrl(url))) == (mask, mask)


PASSWORDS = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=12).map(lambda tail: f"letmein{tail}")


@given(PASSWORDS)
def test_no_password_in_front_of_a_host_is_printed(password: str) -> None:
    assert "letmein" not in str(SecretUrl(f"postgresql://me:{password}@db:5432/queuebox?sslmode=require"))


@given(PASSWORDS)
def test_no_password_in_a_parameter_is_printed(password: str) -> None:
    assert "letmein" not in str(SecretUrl(f"jdbc:postgresql://db:5432/queuebox?sslmode=require&password={password}"))


@given(PASSWORDS)
def test_no_rendering_of_a_configuration_holds_a_secret(password: str) -> None:
    url = f"postgresql://me:{quote(password, safe='')}@db/queuebox"
    whole = config(database={"url": url, "username": "me", "password": password}, admin={"auth": {"token": password}})
    shown = (repr(whole), str(whole), whole.model_dump_json(by_alias=True), str(whole.model_dump()))
    assert [text for text in shown if "letmein" in text] == []


def test_a_dump_of_a_configuration_shows_masks() -> None:
    dump = config().model_dump(mode="json", by_alias=True)
    assert dump["database"]["password"] == "Secret(***)"
    assert dump["database"]["url"] == "jdbc:postgresql://db:5432/queuebox"


def test_a_secret_of_pydantic_is_taken() -> None:
    database = DatabaseConfig(url=SecretStr("postgresql://db/x"), username="u", password=SecretStr("p"))
    assert Config(database=database).database.password == Secret("p")


def test_a_secret_must_be_text() -> None:
    with pytest.raises(ValueError, match="should be a valid string"):
        DatabaseConfig.model_validate({"url": "postgresql://db/x", "username": "u", "password": 5})
