"""`database.url` and what becomes of it: each parameter that people use, in both forms of the URL (spec page 24)."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from queuebox_agent.errors import Misconfigured
from queuebox_agent.store.postgres.connect import conninfo
from queuebox_agent.store.postgres.url import IGNORED, libpq_parameters
from services.schema import database_config

ROOT = "org.postgresql.ssl."


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:postgresql://db:5432/queuebox", {"host": "db", "port": "5432", "dbname": "queuebox"}),
        ("jdbc:postgresql://db/queuebox", {"host": "db", "dbname": "queuebox"}),
        ("jdbc:postgresql://db", {"host": "db"}),
        ("jdbc:postgresql://db/", {"host": "db"}),
        ("jdbc:postgresql://h1:1,h2:2/db", {"host": "h1,h2", "port": "1,2", "dbname": "db"}),
        ("jdbc:postgresql://h1,h2:2/db", {"host": "h1,h2", "port": ",2", "dbname": "db"}),
        ("jdbc:postgresql://[::1]:5433/db", {"host": "::1", "port": "5433", "dbname": "db"}),
        ("jdbc:postgresql:///db", {"host": "localhost", "dbname": "db"}),
        ("jdbc:postgresql://db/order%20box", {"host": "db", "dbname": "order box"}),
        ("postgresql://db:5432/queuebox", {"host": "db", "port": "5432", "dbname": "queuebox"}),
        ("postgres://db/queuebox", {"host": "db", "dbname": "queuebox"}),
        ("postgresql://app:s%40cret@db/box", {"user": "app", "password": "s@cret", "host": "db", "dbname": "box"}),
        ("postgresql://[fe80::1]:1,h2:2/db", {"host": "fe80::1,h2", "port": "1,2", "dbname": "db"}),
        ("postgresql:///db?host=/var/run/postgresql", {"host": "/var/run/postgresql", "dbname": "db"}),
        ("postgresql:///db", {"dbname": "db"}),
    ],
)
def test_the_address_is_read(url: str, expected: dict[str, str]) -> None:
    assert libpq_parameters(url) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sslmode=verify-full", {"sslmode": "verify-full"}),
        ("sslmode=verify-ca&sslrootcert=/ca.pem", {"sslmode": "verify-ca", "sslrootcert": "/ca.pem"}),
        ("sslcert=/c.pem&sslkey=/k.pem&sslpassword=x", {"sslcert": "/c.pem", "sslkey": "/k.pem", "sslpassword": "x"}),
        ("ssl=true", {"sslmode": "verify-full"}),
        ("ssl", {"sslmode": "verify-full"}),
        ("ssl=false", {}),
        ("ssl=true&sslmode=require", {"sslmode": "require"}),
        (f"ssl=true&sslfactory={ROOT}NonValidatingFactory", {"sslmode": "require"}),
        (f"ssl=true&sslfactory={ROOT}jdbc4.LibPQFactory", {"sslmode": "verify-full"}),
        (f"sslfactory={ROOT}NonValidatingFactory", {}),
        ("sslNegotiation=direct", {"sslnegotiation": "direct"}),
        ("currentSchema=boxes", {"options": "-c search_path=boxes"}),
        ("currentSchema=boxes,public", {"options": "-c search_path=boxes,public"}),
        ("currentSchema=%22My%20Boxes%22,public", {"options": r'-c search_path="My\ Boxes",public'}),
        ("options=-c%20work_mem=64MB", {"options": "-c work_mem=64MB"}),
        ("options=-c+work_mem=64MB", {"options": "-c work_mem=64MB"}),
        ("options=-c%20jit=off&currentSchema=boxes", {"options": "-c jit=off -c search_path=boxes"}),
        ("connectTimeout=5", {"connect_timeout": "5"}),
        ("loginTimeout=7", {"connect_timeout": "7"}),
        ("loginTimeout=7&connectTimeout=5", {"connect_timeout": "5"}),
        ("socketTimeout=20", {"tcp_user_timeout": "20000"}),
        ("tcpKeepAlive=true", {"keepalives": "1"}),
        ("tcpKeepAlive=false", {"keepalives": "0"}),
        ("targetServerType=primary", {"target_session_attrs": "primary"}),
        ("targetServerType=master", {"target_session_attrs": "primary"}),
        ("targetServerType=preferPrimary", {"target_session_attrs": "primary"}),
        ("targetServerType=any", {"target_session_attrs": "any"}),
        ("targetServerType=secondary", {"target_session_attrs": "standby"}),
        ("targetServerType=slave", {"target_session_attrs": "standby"}),
        ("targetServerType=preferSecondary", {"target_session_attrs": "prefer-standby"}),
        ("targetServerType=preferSlave", {"target_session_attrs": "prefer-standby"}),
        ("loadBalanceHosts=true", {"load_balance_hosts": "random"}),
        ("loadBalanceHosts=false", {"load_balance_hosts": "disable"}),
        ("ApplicationName=orders", {"application_name": "orders"}),
        ("user=app&password=p%26q", {"user": "app", "password": "p&q"}),
        ("channelBinding=require", {"channel_binding": "require"}),
        ("requireAuth=scram-sha-256", {"require_auth": "scram-sha-256"}),
        ("gssEncMode=disable", {"gssencmode": "disable"}),
        ("kerberosServerName=pg", {"krbsrvname": "pg"}),
    ],
)
def test_a_jdbc_parameter_becomes_one_of_libpq(query: str, expected: dict[str, str]) -> None:
    assert libpq_parameters(f"jdbc:postgresql://db/box?{query}") == {"host": "db", "dbname": "box"} | expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sslmode=require&connect_timeout=3", {"sslmode": "require", "connect_timeout": "3"}),
        ("ssl=true", {"sslmode": "require"}),
        ("ssl=true&sslmode=disable", {"sslmode": "disable"}),
        ("target_session_attrs=read-write", {"target_session_attrs": "read-write"}),
        ("application_name=orders", {"application_name": "orders"}),
        ("options=-c%20search_path%3Dboxes", {"options": "-c search_path=boxes"}),
        ("password=a+b", {"password": "a+b"}),
        ("currentSchema=boxes", {"options": "-c search_path=boxes"}),
        ("tcp_user_timeout=5&socketTimeout=20", {"tcp_user_timeout": "5"}),
    ],
)
def test_a_parameter_of_libpq_is_passed_on(query: str, expected: dict[str, str]) -> None:
    assert libpq_parameters(f"postgresql://db/box?{query}") == {"host": "db", "dbname": "box"} | expected


@pytest.mark.parametrize("name", sorted(IGNORED))
def test_tuning_of_a_jdbc_driver_changes_nothing(name: str) -> None:
    assert libpq_parameters(f"jdbc:postgresql://db/box?{name}=5") == {"host": "db", "dbname": "box"}


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "jdbc:postgresql://db/box?sslMode=require&pasword=hunter2",
            "number 1 is not known; did you mean sslmode.*number 2 is .*password",
        ),
        ("postgresql://db/box?connecttimeout=hunter2", "connecttimeout is not known; did you mean connectTimeout"),
        ("jdbc:postgresql://db/box?socketFactory=com.hunter2.Factory", "the parameter socketFactory is not known"),
        ("jdbc:postgresql://db/box?ssl=true&sslfactory=com.hunter2.Factory", "sslfactory has a value that cannot"),
        ("jdbc:postgresql://db/box?ssl=hunter2", "ssl has a value that cannot"),
        ("jdbc:postgresql://db/box?targetServerType=hunter2", "targetServerType has a value that cannot"),
        ("jdbc:postgresql://db/box?connectTimeout=hunter2", "connectTimeout has a value that cannot"),
        ("jdbc:postgresql://db/box?sslmode=hunter2", "sslmode must be disable, allow, prefer, require, verify-ca"),
        ("postgresql://db/box?target_session_attrs=hunter2", "target_session_attrs must be any, read-write"),
        ("jdbc:postgresql://db:hunter2/box", "a port must be a number"),
        ("jdbc:postgresql://db:70000/box?sslkey=hunter2", "a port must be a number from 1 to 65535"),
        ("postgresql://db:0/box?sslkey=hunter2", "a port must be a number from 1 to 65535"),
        ("postgresql://db/box?connect_timeout=hunter2", "connect_timeout must be a whole number"),
        ("postgresql://db/box?keepalives_idle=hunter2", "keepalives_idle must be a whole number"),
        ("jdbc:postgresql://db/box?channelBinding=hunter2", "channel_binding must be disable, prefer or require"),
        ("postgresql://app:hunter2@hunter2@db/box", "a host holds an @: percent-encode"),
        ("postgresql://app:hunter2?hunter2@db/box", "the parameter number 1 is not known"),
        ("jdbc:postgresql://db/box?user=app&password=hunter&hunter2", "the parameter number 3 is not known"),
        ("postgresql://app:hun ter2@db/box", "cannot be read"),
        ("postgresql://app:hunter2%zz@db/box", "cannot be read"),
        ("postgresql://[::1/hunter2", "cannot be read"),
        ("mysql://app:hunter2@db/box", "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_named_and_no_value_is_shown(url: str, message: str) -> None:
    with pytest.raises(Misconfigured, match=rf"(?s)database.url \(QUEUEBOX_DATABASE_URL\): .*{message}") as failure:
        libpq_parameters(url)
    assert "hunter2" not in str(failure.value)
    assert failure.value.__cause__ is None


def connection_string(url: str, **settings: object) -> dict[str, object]:
    return dict(conninfo_to_dict(conninfo(database_config(url, **settings))))


def test_user_and_password_of_the_configuration_win_over_the_url() -> None:
    found = connection_string("postgresql://other:old@db/box", username="app", password="new")
    assert (found["user"], found["password"]) == ("app", "new")


def test_user_and_password_of_the_url_serve_where_the_configuration_has_none() -> None:
    found = connection_string("postgresql://app:s3cret@db/box", username=None, password=None)
    assert (found["user"], found["password"]) == ("app", "s3cret")


def test_a_password_with_every_special_character_arrives_whole() -> None:
    password = r"""a 'b' \c\ "d" %20 = & ?"""
    assert connection_string("jdbc:postgresql://db/box", password=password)["password"] == password


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("application_name", "queuebox"),
        ("connect_timeout", "10"),
        ("tcp_user_timeout", "30000"),
        ("keepalives_idle", "30"),
        ("keepalives_interval", "10"),
        ("keepalives_count", "3"),
    ],
)
def test_what_the_url_leaves_open_has_a_default(name: str, value: str) -> None:
    assert connection_string("jdbc:postgresql://db/box")[name] == value


@pytest.mark.parametrize("query", ["", "?client_encoding=latin1"])
def test_the_encoding_is_always_utf_8(query: str) -> None:
    assert connection_string(f"postgresql://db/box{query}")["client_encoding"] == "UTF8"


def test_the_url_wins_over_a_default() -> None:
    assert connection_string("jdbc:postgresql://db/box?ApplicationName=orders")["application_name"] == "orders"


@pytest.mark.parametrize(
    ("url", "attributes"),
    [
        ("jdbc:postgresql://h1,h2/box", "read-write"),
        ("jdbc:postgresql://h1,h2/box?targetServerType=any", "any"),
        ("jdbc:postgresql://h1/box", None),
    ],
)
def test_of_several_hosts_one_that_can_be_written_is_taken(url: str, attributes: str | None) -> None:
    assert connection_string(url).get("target_session_attrs") == attributes
