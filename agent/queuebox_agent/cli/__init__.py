"""The `queuebox` command. One file a command; docs/reference/cli.md is checked against it."""

import sys

import click

from queuebox_agent.cli.demo import demo
from queuebox_agent.cli.migrate import migrate
from queuebox_agent.cli.run import run
from queuebox_agent.cli.try_out import try_out
from queuebox_agent.cli.validate import validate
from queuebox_agent.cli.version import version
from queuebox_agent.errors import Misconfigured, QueueBoxError

FAILED, MISCONFIGURED = 1, 2

EPILOG = """\b
Exit codes:
  0  it did what was asked
  1  it could not: the database is away, a delivery loop broke, the demo found a fault
  2  a person must change something: the configuration, the schema, the command line

\b
Configuration: QUEUEBOX_ variables win over the file that QUEUEBOX_CONFIG_FILE names, by default
/etc/queuebox/queuebox.yml. Logs go to standard error; LOG_LEVEL and LOG_FORMAT=json shape them.
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def queuebox() -> None:
    """QueueBox: a transactional outbox in the database that your application already has."""


for command in (run, validate, migrate, demo, try_out, version):
    queuebox.add_command(command)


def main() -> None:
    """Run the command line; the process ends with one of the documented exit codes."""
    try:
        queuebox.main(standalone_mode=True)
    except Misconfigured as error:
        click.echo("\n".join(f"error: {problem}" for problem in error.problems), err=True)
        sys.exit(MISCONFIGURED)
    except QueueBoxError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(FAILED)
