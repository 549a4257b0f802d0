"""What the tests read out of a page."""

from pathlib import Path

import pytest

from services import docs
from services.docs import blocks, filled, shows

PAGE = """# Title

<!-- test: first -->
```sql
SELECT 1;
```

Text.

```text
plain
```
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_a_block_has_the_name_before_it(page: Path) -> None:
    assert [(block.name, block.language, block.text) for block in blocks(page)] == [
        ("first", "sql", "SELECT 1;\n"),
        ("", "text", "plain\n"),
    ]


def test_variables_of_psql_are_filled_in() -> None:
    assert filled("id = :'message_id'::uuid LIMIT :limit", {"message_id": "o'k", "limit": 5}) == (
        "id = 'o''k'::uuid LIMIT 5"
    )


@pytest.mark.parametrize(
    ("shown", "holds"),
    [("b\n", True), ("a\nc\n", True), ("c\na\n", False), ("a … z\n", True), ("b … z\n", False), ("a.z\n", False)],
)
def test_output_shows_lines_in_order(shown: str, *, holds: bool) -> None:
    assert shows("a to z\nb\nc\n", shown) is holds
