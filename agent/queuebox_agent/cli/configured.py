import os
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import click

from queuebox_agent.errors import Misconfigured
from queuebox_agent.settings import load
from queuebox_agent.store.postgres.url import WHERE, libpq_parameters
from queuebox_agent.telemetry import logging as logs
from queuebox_api.config import Config, Finding

P = ParamSpec("P")
R = TypeVar("R")


def configured(command: Callable[Concatenate[Config, P], R]) -> Callable[P, R]:
    """Give a command the loaded configuration, and an option to say where it is."""

    @click.option(
        "--config",
        "path",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="The queuebox.yml. Wins over QUEUEBOX_CONFIG_FILE.",
    )
    @wraps(command)
    def with_config(path: str | None, *args: P.args, **kwargs: P.kwargs) -> R:
        environ = dict(os.environ)
        logs.configure(environ)
        if path is not None:
            environ["QUEUEBOX_CONFIG_FILE"] = path
        return command(load(environ, check=_of_the_url), *args, **kwargs)

    return with_config  # type: ignore[return-value]  # click calls it with `path` by name


def _of_the_url(config: Config) -> list[Finding]:
    """What the database's library would not take, to be told beside everything else that is wrong."""
    if config.database.type == "postgresql":
        try:
            libpq_parameters(config.database.url.get_secret_value())
        except Misconfigured as error:
            return [Finding(("database", "url"), problem.removeprefix(f"{WHERE}: ")) for problem in error.problems]
    return []
