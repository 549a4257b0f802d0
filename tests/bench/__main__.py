"""`make bench`: measure, print a table, write bench.json. `make bench FIGURES=claim,http` measures a part."""

import json
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import agents, claim, delivery, idle, reconcile
from bench.figure import Figure
from queuebox_agent.demo.postgres import LocalPostgres
from services.postgres import new_database
from services.schema import apply_migrations

GROUPS: dict[str, Callable[[str], Coroutine[None, None, list[Figure]]]] = {
    "claim": claim.figures,
    "http": delivery.figures,
    "agents": agents.figures,
    "idle": idle.figures,
    "operator": reconcile.figures,
}
SETTINGS = {"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_utility": "off"}


def main(wanted: list[str]) -> None:
    console = Console()
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="queuebox-bench-") as folder:
        server = LocalPostgres(Path(folder), settings=SETTINGS)
        server.initialize()
        server.start()
        try:
            for name in wanted:
                console.print(f"measuring {name} ...")
                with new_database(server.url) as url:
                    apply_migrations(url)
                    found += uvloop.run(GROUPS[name](url))
        finally:
            server.stop("immediate")
    Path("bench.json").write_text(json.dumps([figure.plain() for figure in found], indent=2) + "\n")
    console.print(table(found))


def table(figures: list[Figure]) -> Table:
    shown = Table("figure", "value", "unit", "roof", "ratio", "conditions")
    for figure in figures:
        conditions = ", ".join(f"{name} {value}" for name, value in figure.conditions.items())
        shown.add_row(
            figure.figure, f"{figure.value:,.1f}", figure.unit, f"{figure.roof:,.1f}", f"{figure.ratio:.2f}", conditions
        )
    return shown


if __name__ == "__main__":
    chosen = sys.argv[1].split(",") if len(sys.argv) > 1 else list(GROUPS)
    if unknown := set(chosen) - set(GROUPS):
        sys.exit(f"no such figures: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    main(chosen)
