"""The migrations and the check on every PostgreSQL server of this machine."""

import psycopg
import pytest

from queuebox_agent.store.postgres.bundled import BUNDLED
from queuebox_agent.store.postgres.migrate import migrate
from queuebox_agent.store.postgres.schema import check_schema
from services.postgres import programs_by_version, running_server
from services.schema import database_config

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("version", programs_by_version())
def test_a_server_is_migrated_in_one_go_and_lacks_nothing(version: str) -> None:
    with running_server(programs_by_version()[version]) as server:
        assert migrate(server.url) == list(BUNDLED)
        assert check_schema(server.url, database_config(server.url)) == ()


@pytest.mark.parametrize("version", programs_by_version())
def test_rows_that_wait_are_carried_through_every_migration(version: str) -> None:
    with running_server(programs_by_version()[version]) as server:
        migrate(server.url, BUNDLED[:1])
        with psycopg.connect(server.url, autocommit=True) as application:
            application.execute("INSERT INTO outbox (topic, payload) VALUES ('a', '{}'), ('b', '{}')")
            migrate(server.url)
            numbered = application.execute("SELECT sequence FROM outbox ORDER BY id").fetchall()
    assert numbered == [(1,), (2,)]
