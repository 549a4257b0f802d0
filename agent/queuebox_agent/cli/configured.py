import os
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import click

from queuebox_agent.settings import load
from queuebox_agent.telemetry import logging as logs
from queuebox_api.config import Config

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
        return command(load(environ), *args, **kwargs)

    return with_config  # type: ignore[return-value]  # click calls it with `path` by name
