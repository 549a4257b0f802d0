"""The reference pages hold what the models say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    name: (ROOT / "docs" / "reference" / name).read_text() for name in ("configuration.md", "environment-variables.md")
}


def test_the_tables_are_up_to_date() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "generate_reference.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("page", "row"),
    [
        (
            "configuration.md",
            "| `httpPort` | number, 1 to 65535 | `8080` | The data port, which serves the inbox routes. |",
        ),
        (
            "configuration.md",
            "| `onError` | `Fail` `Skip` `Dead` | `Fail` | What becomes of a message whose evaluation fails. |",
        ),
        ("configuration.md", "| `cleanupInterval` | duration | `1h` | The wait between two cleanup runs. |"),
        ("configuration.md", "| `topics` | list of texts | required | The topics. One consumer reads them all. |"),
        ("environment-variables.md", "| `routes[0].destination` | `QUEUEBOX_ROUTES_0_DESTINATION` |"),
        ("environment-variables.md", "| `sources.<name>.topics[0]` | `QUEUEBOX_SOURCES_ORDERS_TOPICS_0` |"),
        (
            "environment-variables.md",
            "| `destinations.<name>.headers.<name>` | `QUEUEBOX_DESTINATIONS_ORDERS_HEADERS_XTEAM` |",
        ),
    ],
)
def test_a_table_has_a_row_for_a_key(page: str, row: str) -> None:
    assert row in PAGES[page]
