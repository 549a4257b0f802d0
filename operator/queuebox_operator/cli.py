"""The `queuebox-operator` command; docs/reference/operator-cli.md is checked against it."""

import asyncio
import os
import platform
import sys
from importlib.metadata import version as installed
from pathlib import Path

import click

from queuebox_operator.app import Broken, Options, Unfit, operate
from queuebox_operator.telemetry import logs

FAILED, MISCONFIGURED = 1, 2

PORTS = click.IntRange(1, 65535)
POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")

EPILOG = """\b
Exit codes:
  0  a clean stop; the lease was given back
  1  a part of it failed: the API server stays away at start, a watch is refused for good
  2  a person must change something: the command line, a variable, a port, the certificate

\b
The API server: the mounted service account, otherwise KUBECONFIG or ~/.kube/config. The log goes to standard
error; LOG_LEVEL and LOG_FORMAT=json shape it.
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def operator() -> None:
    """QueueBox's operator: custom resources in, agents and their status out."""


def _own_namespace() -> str:
    return POD_NAMESPACE.read_text().strip() if POD_NAMESPACE.exists() else "default"


@operator.command(context_settings={"auto_envvar_prefix": "QUEUEBOX_OPERATOR", "show_default": True})
@click.option("--agent-image", required=True, show_envvar=True, help="The image of agents whose box names none.")
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    envvar="QUEUEBOX_OPERATOR_NAMESPACE",
    show_envvar=True,
    help="A namespace to look after; repeat it, or separate by blanks in the variable. None: the whole cluster.",
)
@click.option(
    "--lease-namespace",
    default=_own_namespace,
    show_default="the pod's own",
    show_envvar=True,
    help="Where the lease is by which one replica leads.",
)
@click.option("--lease-name", default="queuebox-operator", show_envvar=True, help="Its name: one a set of replicas.")
@click.option("--port", type=PORTS, default=8080, show_envvar=True, help="Serves /livez, /readyz and /metrics.")
@click.option(
    "--webhook-cert-dir",
    type=click.Path(path_type=Path),
    show_envvar=True,
    help="A folder with tls.crt and tls.key. With it, the validating webhook is served at /validate.",
)
@click.option("--webhook-port", type=PORTS, default=9443, show_envvar=True, help="Where the webhook is served.")
def run(**options: object) -> None:
    """Run the operator until SIGTERM or SIGINT.

    Every replica watches; the one that holds the lease writes. On the first signal it ends what it is writing, gives
    the lease back, and ends with 0. A second signal ends it at once; another replica then leads within 20 seconds.
    """
    try:
        logs.configure(os.environ)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        asyncio.run(operate(Options(**options)))  # type: ignore[arg-type]  # the names and types of the options above
    except (Unfit, Broken) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(FAILED if isinstance(error, Broken) else MISCONFIGURED)


@operator.command()
def version() -> None:
    """Print the version of QueueBox and of Python."""
    click.echo(f"queuebox {installed('queuebox')} (Python {platform.python_version()})")


def main() -> None:
    """Run the command line; the process ends with one of the documented exit codes."""
    operator.main(standalone_mode=True)
