import click

from queuebox_agent.cli.configured import configured
from queuebox_agent.store.postgres import migrate as schema
from queuebox_agent.store.postgres.connect import conninfo
from queuebox_api.config import Config


@click.command()
@click.option("--status", "show_status", is_flag=True, help="Print each migration and whether the database has it.")
@click.option(
    "--sql", "show_sql", is_flag=True, help="Print what is pending as SQL, to apply by hand. Changes nothing."
)
@click.option(
    "--baseline", "version", type=click.IntRange(min=1), metavar="N", help="Record 1 to N as applied by hand before."
)
@configured
def migrate(config: Config, version: int | None, *, show_status: bool, show_sql: bool) -> None:
    """Bring the database to the schema of this release, whatever database.migrate says.

    Replicas that start together wait for each other. A database that has the tables but no history is refused until
    --baseline says how far it is.
    """
    if sum((show_status, show_sql, version is not None)) > 1:
        raise click.UsageError("--status, --sql and --baseline are three different things: name one")
    schema.refuse_renamed(config.database)
    target = conninfo(config.database)
    if show_status:
        for entry in schema.status(target):
            applied = entry.applied_at.isoformat(timespec="seconds") if entry.applied_at else ""
            click.echo(f"{entry.migration.version:>3}  {entry.state:<9} {entry.migration.file:<40} {applied}".rstrip())
    elif show_sql:
        click.echo(schema.pending_sql(target) or "-- nothing is pending")
    elif version is not None:
        recorded = schema.baseline(target, version)
        click.echo(f"recorded as applied: {', '.join(migration.file for migration in recorded)}")
    else:
        applied_now = schema.migrate(target)
        for migration in applied_now:
            click.echo(f"applied {migration.file}")
        click.echo("the schema is up to date" if applied_now else "the schema was up to date")
