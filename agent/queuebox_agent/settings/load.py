"""From the environment and one file to a `Config` (spec pages 24 and 25)."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

from queuebox_agent.errors import Misconfigured
from queuebox_agent.settings.keys import canonical
from queuebox_agent.settings.placeholders import Placeholders
from queuebox_agent.settings.references import with_files_read
from queuebox_agent.settings.text import with_sound_text
from queuebox_agent.settings.variables import CONFIG_FILE, Variables, settings_in
from queuebox_agent.settings.yaml_file import read_yaml
from queuebox_api.config import Config, Finding
from queuebox_api.config.block import UnreadableError
from queuebox_api.config.examine import examine
from queuebox_api.names import dotted, variable_of
from queuebox_api.unsupported import unsupported

DEFAULT_PATH: Final = Path("/etc/queuebox/queuebox.yml")


def load(
    environ: Mapping[str, str],
    default_path: Path = DEFAULT_PATH,
    check: Callable[[Config], Iterable[Finding]] = lambda _: (),
) -> Config:
    """The configuration of this process.

    `check` finds what only others can tell. It is also asked about a configuration that is not whole, and may leave the
    UnreadableError of that.

    A variable wins over the file. The packaged file is read only when there is no other and no variable sets a key.
    Raises Misconfigured with every problem at once, each with the path of the key and its variable. A file that is no
    YAML is one problem of its own. No text holds a secret.
    """
    findings: list[Finding] = []
    placeholders = Placeholders(environ)
    path = _file(environ, default_path)
    tree = _read(path, placeholders, findings) if path else {}
    variables = settings_in(environ, tree, placeholders.names)
    if not path and not variables.values and not variables.problems:
        tree = _packaged(placeholders, findings, default_path)
    findings = [finding for finding in findings if not variables.replaces(finding.path)]
    tree = with_files_read(variables.over({"database": {}} | tree, findings), findings)
    tree = with_sound_text(tree, findings)
    config, wrong = examine(tree)
    reported = {finding.path for finding in findings}
    findings += [finding for finding in [*wrong, *unsupported(config)] if finding.path not in reported]
    with suppress(UnreadableError):
        findings += [finding for finding in check(config) if finding.path not in {found.path for found in findings}]
    if problems := [*variables.problems, *_told(findings, variables)]:
        raise Misconfigured(*problems)
    return config


def _file(environ: Mapping[str, str], default_path: Path) -> Path | None:
    """The file to read. One that is named must be there: without it, half a configuration might start."""
    if name := environ.get(CONFIG_FILE):
        return Path(name)
    return default_path if _is_there(default_path) else None


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # reading it will say what is wrong
    return True


def _read(path: Path, placeholders: Placeholders, findings: list[Finding]) -> dict[str, Any]:
    tree = canonical(read_yaml(path), findings)
    if not isinstance(tree, dict):
        raise Misconfigured(f"{path}: must be a block of keys")
    expanded: dict[str, Any] = placeholders.expanded(tree)
    findings += placeholders.findings
    return expanded


def _packaged(placeholders: Placeholders, findings: list[Finding], default_path: Path) -> dict[str, Any]:
    with as_file(files(__package__) / "queuebox.yml") as path:
        tree = _read(path, placeholders, findings)
    if not tree:
        raise Misconfigured(
            "there is no configuration: set QUEUEBOX_ variables (at least QUEUEBOX_DATABASE_URL, "
            "QUEUEBOX_DATABASE_USERNAME and QUEUEBOX_DATABASE_PASSWORD), or mount a file at "
            f"{default_path} or where {CONFIG_FILE} says; the packaged queuebox.yml holds none either"
        )
    return tree


def _told(findings: Iterable[Finding], variables: Variables) -> Iterable[str]:
    for finding in findings:
        variable = variable_of(variables.written(finding.path))
        yield f"{dotted(finding.path)}{f' ({variable})' if variable else ''}: {finding.text}"
