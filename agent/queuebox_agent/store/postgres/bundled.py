"""The migration files of this release."""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

FILE = re.compile(r"V(?P<version>\d+)__(?P<description>\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One file `V<version>__<description>.sql`: plain SQL that psql takes as well."""

    version: int
    file: str
    sql: str

    @property
    def description(self) -> str:
        """What the file's name says, in words."""
        return self.file.removeprefix(f"V{self.version}__").removesuffix(".sql").replace("_", " ")

    @property
    def checksum(self) -> str:
        """SHA-256 in hexadecimal, the same whichever line ends the file has."""
        return hashlib.sha256("\n".join(self.sql.splitlines()).encode()).hexdigest()


def _read() -> tuple[Migration, ...]:
    folder = files("queuebox_agent.store.postgres").joinpath("migrations")
    named = ((file, FILE.fullmatch(file.name)) for file in folder.iterdir())
    found = [Migration(int(name["version"]), file.name, file.read_text("utf-8")) for file, name in named if name]
    return tuple(sorted(found, key=lambda migration: migration.version))


BUNDLED = _read()
