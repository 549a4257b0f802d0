"""Writes the CRDs and the tables of their pages from the models; `--check` only tells whether they are up to date.

A table stands between `<!-- fields: KIND -->`, `<!-- conditions -->` or `<!-- reasons -->` and `<!-- end -->`.
"""  # noqa: INP001  a script, no package

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from typing_extensions import override

from queuebox_api.config.fields import LARGEST
from queuebox_api.resources import GROUP, KINDS, ConditionType, Kind, Reason, kind
from queuebox_api.schema import Schema, definition, schema_of

ROOT = Path(__file__).parent.parent
CRDS = ROOT / "crds"
PAGES = tuple(ROOT / "docs" / "reference" / name for name in ("custom-resources.md", "conditions.md"))
HEAD = "# Generated from crds/queuebox_api by scripts/generate_crds.py. Do not edit.\n"
TABLE = re.compile(r"(<!-- (fields|conditions|reasons)(?:: (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
TOLD_ELSEWHERE = {"columnMapping": "the columns of each table, see [configuration](configuration.md)"}


def main() -> int:
    """Write, or with `--check` compare. Returns the exit status."""
    texts = {CRDS / f"{GROUP}_{one.plural}.yaml": text_of(one) for one in KINDS}
    texts |= {page: written(page) for page in PAGES}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stray = [path for path in CRDS.glob("*.yaml") if path not in texts]
    if "--check" in sys.argv[1:]:
        for path in (*stale, *stray):
            sys.stderr.write(f"{path.name} is not what the models say: run make generate\n")
        return 1 if stale or stray else 0
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
    for path in stray:
        path.unlink()
    return 0


def text_of(one: Kind) -> str:
    """The file of a kind."""
    return HEAD + yaml.dump(definition(one), Dumper=_Plain, sort_keys=False, width=120, allow_unicode=True)


class _Plain(yaml.SafeDumper):
    """No anchors: each part stands where it is read."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(page: Path) -> str:
    """The page with its tables as they should be."""
    return TABLE.sub(lambda found: f"{found[1]}{table(found[2], found[3])}{found[4]}", page.read_text(encoding="utf-8"))


def table(sort: str, name: str) -> str:
    """The lines between two markers."""
    if sort == "fields":
        schema = schema_of(kind(name).spec, "spec")
        return as_table(("Field", "Type", "Default", "Meaning"), fields(schema, "spec"))
    members: Iterable[ConditionType | Reason] = ConditionType if sort == "conditions" else Reason
    return as_table((sort.capitalize()[:-1], "Meaning"), ((f"`{one}`", one.meaning) for one in members))


def as_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """The rows as Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def fields(node: Schema, path: str) -> Iterator[tuple[str, ...]]:
    """A row for each field below `node`."""
    for name, child in node.get("properties", {}).items():
        place = f"{path}.{name}"
        required = name in node.get("required", [])
        told = TOLD_ELSEWHERE.get(name) or type_of(child)
        yield f"`{place}`", told, default_of(child, required=required), " ".join(child["description"].split())
        if name not in TOLD_ELSEWHERE and reference_of(child) is None:
            yield from fields(child, place)
            yield from fields(child.get("items", {}), f"{place}[]")


def reference_of(node: Schema) -> str | None:
    """What a field refers to; None when it is no reference."""
    known = {("name", "key"): "`name` and `key` of a Secret", ("name",): "`name` of an object"}
    return known.get(tuple(node.get("properties", {})))


def type_of(node: Schema) -> str:
    """The type in words."""
    if "enum" in node:
        return " ".join(f"`{value}`" for value in node["enum"])
    if node["type"] == "integer":
        most = node["maximum"]
        return f"number, at least {node['minimum']}" if most == LARGEST else f"number, {node['minimum']} to {most}"
    if node["type"] == "array":
        return f"list of {type_of(node['items'])}, at most {node['maxItems']}"
    if "additionalProperties" in node or "maxProperties" in node:
        return f"map, at most {node['maxProperties']}"
    words = {"string": f"text, at most {node.get('maxLength')}", "boolean": "`true` `false`"}
    return reference_of(node) or words.get(node["type"], "block")


def default_of(node: Schema, *, required: bool) -> str:
    """The default in words."""
    if required:
        return "required"
    default = node.get("default")
    if default is None or isinstance(default, dict):
        return "none" if default is None else "see below"
    return "empty" if default == "" else f"`{str(default).lower() if isinstance(default, bool) else default}`"


if __name__ == "__main__":
    sys.exit(main())
