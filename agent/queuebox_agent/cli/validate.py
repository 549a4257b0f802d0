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
    click.echo(f"the configuration is valid: {len(config.destinations)} destinations, {len(config.routes)} routes")
    for place, route in enumerate(config.routes):
        click.echo(f"  routes[{place}]  {route.topic_pattern}  ->  {route.destination}")
