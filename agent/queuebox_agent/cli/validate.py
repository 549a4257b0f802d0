import click

from queuebox_agent.cli.configured import configured
from queuebox_api.config import Config


@click.command()
@configured
def validate(config: Config) -> None:
    """Check the configuration without touching a database or a destination.

    Prints what it holds and ends with 0, or prints every problem with its place in the file and its variable and ends
    with 2.
    """
    found = f"{_count(len(config.destinations), 'destination')}, {_count(len(config.routes), 'route')}"
    click.echo(f"the configuration is valid: {found}")
    for place, route in enumerate(config.routes):
        click.echo(f"  routes[{place}]  {_printable(route.topic_pattern)}  ->  {_printable(route.destination)}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _printable(text: str) -> str:
    """On one line, and without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
