"""The bundled schema in a test's database, and the configuration that leads there."""

from typing import Any

import psycopg

from queuebox_agent.store.postgres.bundled import BUNDLED
from queuebox_agent.store.postgres.migrate import migrate
from queuebox_api.config import DatabaseConfig


def apply_migrations(url: str) -> None:
    """Every bundled migration, as the agent applies them."""
    migrate(url)


def database_config(url: str, **settings: Any) -> DatabaseConfig:
    """The section `database` for a test's server, which asks for no password."""
    return DatabaseConfig.model_validate({"url": url, "username": "postgres", "password": "", **settings})


def apply_files(url: str, through: int) -> None:
    """The files up to a version and no history, as a person with psql applies them."""
    with psycopg.connect(url, autocommit=True) as connection:
        for migration in BUNDLED[:through]:
            connection.execute(migration.sql.encode())
