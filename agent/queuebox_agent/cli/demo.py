import asyncio
import sys

import click

from queuebox_agent.errors import Misconfigured

FAILED = 1


@click.command()
@click.option(
    "--seconds", type=click.FloatRange(1, 600), default=14.0, show_default=True, help="How long orders are written."
)
@click.option(
    "--keys", type=click.IntRange(1, 100_000), default=200, show_default=True, help="How many orders there are."
)
@click.option("--rate", type=click.IntRange(1, 10_000), default=400, show_default=True, help="Rows written a second.")
@click.option("--seed", type=int, help="Repeat the luck of an earlier run.")
def demo(seconds: float, keys: int, rate: int, seed: int | None) -> None:
    """See it work: an embedded PostgreSQL, an agent, and a receiver that fails, is slow and drops connections.

    Orders are written while it runs; what happens is drawn live. Ends with 0 only if every row arrived and each order
    kept its order. It needs the extra: pip install 'queuebox[demo]'.
    """
    try:
        from queuebox_agent.demo.show import Demo  # noqa: PLC0415  an agent is installed without what the demo needs
    except ModuleNotFoundError as error:
        raise Misconfigured(f"the demo needs {error.name}: pip install 'queuebox[demo]'") from None
    if not asyncio.run(Demo(seconds, keys, rate, seed).run()):
        sys.exit(FAILED)
