"""What holds for every page, without running anything."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from queuebox_api.config import Config
from services.docs import PAGES, ROOT, Block, blocks

LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
DATABASE = {"url": "jdbc:postgresql://localhost/shop", "username": "u", "password": "p"}
SECTIONS = {str(field.alias or name) for name, field in Config.model_fields.items()}


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    for link in LINK.finditer(page.read_text()):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        if not target.exists() or (link["anchor"] and target.suffix == ".md" and link["anchor"] not in anchors(target)):
            yield link[0]


def configurations() -> Iterator[Block]:
    for page in PAGES:
        for block in blocks(page, "yaml"):
            content = yaml.safe_load(block.text)
            if isinstance(content, dict) and content.keys() <= SECTIONS:
                yield block


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken_links(page))


@pytest.mark.parametrize("block", list(configurations()), ids=str)
def test_a_configuration_is_valid(block: Block) -> None:
    content = yaml.safe_load(block.text)
    destinations = {route["destination"] for route in content.get("routes", [])} - content.get(
        "destinations", {}
    ).keys()
    needed = {name: {"baseUrl": "https://example.com"} for name in destinations}
    complete = {"database": DATABASE} | content | {"destinations": content.get("destinations", {}) | needed}
    complete["database"] = DATABASE | complete["database"]
    Config.model_validate(complete)


@pytest.mark.parametrize("block", [b for page in PAGES for b in blocks(page, "python")], ids=str)
def test_python_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")
