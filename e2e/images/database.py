"""PostgreSQL as the official image runs it: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB and PGDATA say how."""

import os
import subprocess
from pathlib import Path

DATA = Path(os.environ.get("PGDATA", "/var/lib/postgresql/data"))
USER = os.environ.get("POSTGRES_USER", "postgres")
DATABASE = os.environ.get("POSTGRES_DB", USER)
SOCKETS = "/var/run/postgresql"


def initialize() -> None:
    """Make the data folder, the user and the database. Who comes over the network needs the password."""
    DATA.mkdir(parents=True, exist_ok=True)
    DATA.chmod(0o700)
    password = Path("/tmp/password")
    password.write_text(os.environ["POSTGRES_PASSWORD"])
    subprocess.run(
        ["initdb", "-D", DATA, "-U", USER, f"--pwfile={password}", "--auth-host=scram-sha-256", "--auth-local=trust",
         "-E", "UTF8", "--locale=C", "-N"],
        check=True,
    )  # fmt: skip
    password.unlink()
    with (DATA / "pg_hba.conf").open("a") as access:
        access.write("host all all all scram-sha-256\n")
    if DATABASE not in {"postgres", "template1"}:
        create = f'CREATE DATABASE "{DATABASE}"\n'
        subprocess.run(["postgres", "--single", "-D", DATA, "postgres"], input=create, text=True, check=True)


if __name__ == "__main__":
    if not (DATA / "PG_VERSION").exists():
        initialize()
    settings = {"listen_addresses": "*", "unix_socket_directories": SOCKETS, "max_connections": "300", "fsync": "off"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    os.execvp("postgres", ["postgres", "-D", str(DATA), *options])  # noqa: S606  it takes the place of this process
