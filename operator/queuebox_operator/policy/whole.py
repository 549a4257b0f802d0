"""What is wrong with a configuration as a whole, and which resource is to blame."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from queuebox_api.config import Finding
from queuebox_api.config.examine import examine
from queuebox_api.names import Path
from queuebox_api.resources import Reason, resource_path
from queuebox_api.unsupported import unsupported
from queuebox_operator.facts import Ref
from queuebox_operator.policy.verdict import Refusal, told
from queuebox_operator.record import Entry, Record

LARGEST: Final = 700_000
"""Bytes as JSON. A ConfigMap takes 1 MiB, and YAML of many short values is half as long again."""
OVERHEAD: Final = 256
"""Bytes that an entry takes beyond its content."""
_SECTIONS: Final = {"sources": "Source", "destinations": "Destination", "routes": "Route"}
_URLS: Final = {
    "postgresql": "postgresql://user:password@database/name",
    "sqlserver": "jdbc:sqlserver://database;user=user;password=password",
}
"""Stand for a URL that only the agent can read."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A configuration that may come to be, next to what ran before."""

    record: Record
    box: Ref
    specs: Mapping[Ref, Mapping[str, Any]]
    before: Mapping[Ref, Entry]

    def refusals(self) -> dict[Ref, Refusal]:
        """For each resource to blame, why. Of two that collide it is the one that is newer in the configuration."""
        order = self._oldest_first()
        config, wrong = examine(self._tree(order))
        found: defaultdict[Ref, list[Finding]] = defaultdict(list)
        reasons: dict[Ref, Reason] = {}
        for findings, of_box, of_entry in (
            (wrong, Reason.INVALID, Reason.CONFLICT),
            (unsupported(config), Reason.UNSUPPORTED, Reason.UNSUPPORTED),
        ):
            for finding in findings:
                ref, path = self._blamed(finding.path, order)
                found[ref].append(Finding(resource_path(ref.kind, path, self.specs.get(ref, {})), finding.text))
                reasons.setdefault(ref, of_box if ref == self.box else of_entry)
        refused = {ref: Refusal(reasons[ref], told(findings)) for ref, findings in found.items()}
        return refused or self._too_large(order)

    def is_new(self, ref: Ref) -> bool:
        """Whether the resource asks for something else than what ran."""
        entry = self.record.box if ref == self.box else self.record.entries.get(ref)
        return entry is not None and not entry.says_the_same(self.before.get(ref))

    def _oldest_first(self) -> list[Ref]:
        """What ran before comes before what is new, so that an edit of one resource never costs another its place."""
        entries = self.record.entries
        return sorted(entries, key=lambda ref: (self.is_new(ref), entries[ref].created, ref))

    def _tree(self, order: Iterable[Ref]) -> dict[str, Any]:
        """As `examine` reads it. It goes through maps in their order."""
        entries, database = self.record.entries, self.record.box.content.get("database", {})
        tree: dict[str, Any] = {**self.record.box.content, "sources": {}, "destinations": {}}
        tree["server"] = self.record.config()["server"]
        tree["routes"] = [dict(entries[ref].content) for ref in self.record.routes()]
        for ref in order:
            if ref.kind != "Route":
                tree["sources" if ref.kind == "Source" else "destinations"][ref.name] = entries[ref].content
        if str(database.get("url", "")).startswith("file:"):
            tree["database"] = {**database, "url": _URLS[database.get("type", "postgresql")]}
        return tree

    def _blamed(self, path: Path, order: list[Ref]) -> tuple[Ref, Path]:
        """The resource that a finding is about, and where in its entry."""
        kind = _SECTIONS.get(str(path[0])) if path else None
        if kind is None:
            return self.box, path
        if len(path) == 1:  # too many of a kind
            return next(ref for ref in reversed(order) if ref.kind == kind), ()
        if kind == "Route":
            return self.record.routes()[int(path[1])], path[2:]
        return Ref(kind, self.box.namespace, str(path[1])), path[2:]

    def _too_large(self, order: list[Ref]) -> dict[Ref, Refusal]:
        """What is new and does not fit beside what is older."""
        grows = {ref: _bytes(self.record.entries[ref]) - _bytes(self.before.get(ref)) for ref in order}
        total = _bytes(self.record.box) + sum(_bytes(self.before.get(ref)) for ref in order)
        refused: dict[Ref, Refusal] = {}
        for ref in order:
            if grows[ref] > 0 and total + grows[ref] > LARGEST:
                refused[ref] = Refusal(Reason.CONFLICT, "the configuration of the box would not fit into a ConfigMap")
            else:
                total += grows[ref]
        return refused


def _bytes(entry: Entry | None) -> int:
    return len(json.dumps(entry.content).encode()) + OVERHEAD if entry else 0
