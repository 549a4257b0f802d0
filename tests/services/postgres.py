"""PostgreSQL for tests: a URL from the environment, else a server program on the machine, else not run."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from queuebox_agent.demo.postgres import LocalPostgres, embedded_programs
from queuebox_agent.errors import Misconfigured

URL_VARIABLE = "QUEUEBOX_TEST_POSTGRES_URL"


def programs_by_version() -> dict[str, Path]:
    """Server programs on this machine: the embedded one and those that Debian installs."""
    found = {
        path.parent.name: path
        for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if (path / "initdb").exists()
    }
    with suppress(Misconfigured):
        found["embedded"] = embedded_programs()
    return found


def newest_programs() -> Path | None:
    found = programs_by_version()
    return found.get("embedded") or next(iter(reversed(found.values())), None)


@contextmanager
def running_server(programs: Path | None = None, settings: dict[str, str] | None = None) -> Iterator[LocalPostgres]:
    """A server of the test's own, which it may break."""
    folder = Path(tempfile.mkdtemp(prefix="queuebox-postgres-"))
    server = LocalPostgres(folder, programs, {"fsync": "off", "shared_buffers": "64MB", **(settings or {})})
    try:
        server.initialize()
        server.start()
        yield server
    finally:
        with suppress(Misconfigured):
            server.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_database(server_url: str, template: str = "template1") -> Iterator[str]:
    """The URL of a database that exists as long as the context."""
    name = f"queuebox_{uuid.uuid4().hex[:12]}"
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(statement)
    try:
        yield in_database(server_url, name)
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def in_database(server_url: str, name: str) -> str:
    info = psycopg.conninfo.conninfo_to_dict(server_url)
    user, password = info.get("user", "postgres"), info.get("password")
    credentials = f"{user}:{password}" if password else str(user)
    return f"postgresql://{credentials}@{info.get('host', '127.0.0.1')}:{info.get('port', 5432)}/{name}"


def external_url() -> str | None:
    url = os.environ.get(URL_VARIABLE)
    return make_conninfo(url) if url else None
