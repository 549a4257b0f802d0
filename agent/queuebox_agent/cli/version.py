import platform
from importlib.metadata import version as installed

import click


@click.command()
def version() -> None:
    """Print the version of QueueBox and of Python."""
    click.echo(f"queuebox {installed('queuebox')} (Python {platform.python_version()})")
