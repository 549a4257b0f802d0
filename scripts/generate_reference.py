"""Writes the tables of the configuration reference from the models; `--check` only tells whether they are up to date.

A table stands between `<!-- keys: MODEL -->`, `<!-- variables: SECTION -->` or `<!-- not yet -->` and `<!-- end -->`.
"""  # noqa: INP001  a script, no package

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

import queuebox_api.config
from queuebox_api.config import Block
from queuebox_api.config.fields import DURATION, LARGEST
from queuebox_api.config.structure import ROOT, Entries, Items, Leaf, Node, Section, node_of_field
from queuebox_api.names import variable_of
from queuebox_api.unsupported import NOT_YET

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
PAGES = (REFERENCE / "configuration.md", REFERENCE / "environment-variables.md")
TABLE = re.compile(r"(<!-- (keys|variables|not yet)(?:: (\w+)(?: beyond (\w+))?)? -->\n).*?(<!-- end -->)", re.DOTALL)
SAMPLES = {"destinations": "orders", "sources": "orders", "headers": "xteam", "extraParams": "audience"}


def main() -> int:
    """Write, or with `--check` compare. Returns the exit status."""
    stale = [page for page in PAGES if page.read_text(encoding="utf-8") != written(page)]
    if "--check" in sys.argv[1:]:
        for page in stale:
            sys.stderr.write(f"{page.name} is not what the models say: run make generate\n")
        return 1 if stale else 0
    for page in stale:
        page.write_text(written(page), encoding="utf-8")
    return 0


def written(page: Path) -> str:
    """The page with its tables as they should be."""
    return TABLE.sub(
        lambda found: f"{found[1]}{table(*found.groups()[1:4])}{found[5]}", page.read_text(encoding="utf-8")
    )


def table(sort: str, name: str, base: str | None) -> str:
    """The lines between two markers."""
    if sort == "not yet":
        return "\n".join(f"- {gap.what}" for gap in NOT_YET) + "\n"
    if sort == "variables":
        return as_table(("Key", "Variable"), variables(ROOT.keys[name], (name,), (name,)))
    return as_table(("Key", "Type", "Default", "Meaning"), keys(model(name), model(base) if base else Block))


def as_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """The rows as Markdown."""
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ("---",) * len(head), *rows])


def model(name: str) -> type[Block]:
    """The model of that name, or the base of several that is not exported."""
    places = (queuebox_api.config, queuebox_api.config.sources, queuebox_api.config.destinations)
    found: type[Block] = next(getattr(place, name) for place in places if hasattr(place, name))
    return found


def keys(of: type[Block], base: type[Block]) -> Iterator[tuple[str, ...]]:
    """A row for each key that `of` does not have from `base` as it is."""
    properties = of.model_json_schema()["properties"]
    for name, field in sorted(of.model_fields.items(), key=lambda item: item[0] != "type"):
        inherited = base.model_fields.get(name)
        if not inherited or default_of(inherited) != default_of(field):
            meaning = " ".join(str(field.description).split())
            yield f"`{field.alias}`", type_of(field, properties[field.alias]), default_of(field), meaning


def type_of(field: FieldInfo, schema: dict[str, Any]) -> str:
    """The type in words."""
    match node_of_field(field):
        case Section():
            return "block"
        case Entries(of) | Items(of) as several:
            content = "blocks" if isinstance(of, Section) else "texts"
            return f"{'map' if isinstance(several, Entries) else 'list'} of {content}"
        case Leaf(secret=secret):
            variants = [some for some in schema.get("anyOf", []) if some.get("type") != "null"]
            return "secret" if secret else type_of_value(str(field.alias), (variants or [schema])[0])


def type_of_value(key: str, schema: dict[str, Any]) -> str:
    """The type of a single value in words."""
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return " ".join(f"`{value}`" for value in values)
    if schema["type"] == "integer":
        return number(key, schema["minimum"], schema["maximum"])
    if schema["type"] == "boolean":
        return "`true` `false`"
    return "duration" if schema.get("pattern") == f"^({DURATION.pattern})$" else "text"


def number(key: str, least: int, most: int) -> str:
    """A whole number, and its limits where they are no matter of course."""
    unit = "milliseconds" if key.endswith("Ms") or key == "timestampTolerance" else "number"
    limits = f", {least} to {most}" if most != LARGEST else f", at least {least}" if least > 1 else ""
    return f"{unit}{limits}"


def default_of(field: FieldInfo) -> str:
    """The default in words."""
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    if isinstance(default, Block):
        return "see below"
    words = {"None": "none", "": "empty", "{}": "empty", "()": "empty", "True": "`true`", "False": "`false`"}
    return words.get(str(default), f"`{default}`")


def variables(node: Node, key: tuple[str, ...], path: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    """A row for each value below `node`."""
    match node:
        case Leaf():
            yield f"`{'.'.join(key).replace('.[', '[')}`", f"`{variable_of(path)}`"
        case Section():
            for name, child in node.keys.items():
                yield from variables(child, (*key, name), (*path, name))
        case Entries(of):
            yield from variables(of, (*key, "<name>"), (*path, SAMPLES[key[-1]]))
        case Items(of):
            yield from variables(of, (*key, "[0]"), (*path, 0))


if __name__ == "__main__":
    sys.exit(main())
