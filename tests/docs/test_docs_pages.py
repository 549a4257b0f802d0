"""What holds for every page, without running anything."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from queuebox_api.config import Config
from queuebox_api.resources import check
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


Document = tuple[str, dict[str, Any]]
"""Where it stands, and what it says."""


def documents() -> Iterator[Document]:
    """Every YAML document of the pages that is a block of keys."""
    for page in PAGES:
        for block in blocks(page, "yaml"):
            for content in yaml.safe_load_all(block.text):
                if isinstance(content, dict):
                    yield str(block), content


def place(document: Document) -> str:
    return document[0]


CONFIGURATIONS = [(where, content) for where, content in documents() if content.keys() <= SECTIONS]
RESOURCES = [(where, it) for where, it in documents() if str(it.get("apiVersion")).startswith("queuebox.dev/")]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken_links(page))


@pytest.mark.parametrize("document", CONFIGURATIONS, ids=place)
def test_a_configuration_is_valid(document: Document) -> None:
    content = document[1]
    destinations = {route["destination"] for route in content.get("routes", [])} - content.get(
        "destinations", {}
    ).keys()
    needed = {name: {"baseUrl": "https://example.com"} for name in destinations}
    complete = {"database": DATABASE} | content | {"destinations": content.get("destinations", {}) | needed}
    complete["database"] = DATABASE | complete["database"]
    Config.model_validate(complete)


@pytest.mark.parametrize("document", RESOURCES, ids=place)
def test_a_custom_resource_is_valid(document: Document) -> None:
    content = document[1]
    assert not check(content["kind"], content["spec"])


@pytest.mark.parametrize("block", [b for page in PAGES for b in blocks(page, "python")], ids=str)
def test_python_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")
