"""The last good entries: what the configuration of a box is made of, as a ConfigMap keeps them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from queuebox_operator.facts import Manifest, Ref, Resource

ENTRIES: Final = "entries.json"
"""The key of the ConfigMap."""
SECRETS: Final = "/run/secrets/queuebox"
"""Where an agent finds its Secrets: a folder for each, in it a file for each key."""
MANAGEMENT_PORT: Final = 9090
_FORMAT: Final = 1
_SECTIONS: Final = {"Source": "sources", "Destination": "destinations", "Route": "routes"}


def mount(secret: str, key: str) -> str:
    """What the configuration holds for a key of a Secret."""
    return f"file:{SECRETS}/{secret}/{key}"


@dataclass(frozen=True, slots=True)
class Entry:
    """What one custom resource puts into the configuration; a QueueBox puts its sections."""

    generation: int
    created: str
    content: Mapping[str, Any]
    secrets: tuple[tuple[str, str], ...] = ()
    """Each Secret and key that the content reads, sorted."""
    priority: int = 0

    def is_spec_of(self, resource: Resource, asked: "Entry | None") -> bool:
        """Whether it is what the spec of a resource says; a spec that asks for nothing now may be the one that did."""
        if asked is not None:
            return asked.says_the_same(self)
        return (self.generation, self.created) == (resource.generation, resource.created)

    def says_the_same(self, other: "Entry | None") -> bool:
        """Whether an agent could not tell one from the other."""
        return other is not None and (self.content, self.priority) == (other.content, other.priority)


@dataclass(frozen=True, slots=True)
class Record:
    """A whole configuration by its origins."""

    box: Entry
    agent: Mapping[str, Any]
    """`spec.agent` of the box."""
    entries: Mapping[Ref, Entry] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    """The version of each Secret that an entry reads."""

    def of(self, kind: str) -> dict[Ref, Entry]:
        """The entries of that kind."""
        return {ref: entry for ref, entry in self.entries.items() if ref.kind == kind}

    def routes(self) -> list[Ref]:
        """In the order in which they are tested: a higher priority first, the same by name."""
        routes = self.of("Route")
        return sorted(routes, key=lambda ref: (-routes[ref].priority, ref.name))

    def config(self) -> dict[str, Any]:
        """The configuration that the agents read."""
        entries: dict[str, Any] = {
            _SECTIONS[kind]: {ref.name: entry.content for ref, entry in sorted(self.of(kind).items())}
            for kind in ("Source", "Destination")
        }
        entries["routes"] = [self.entries[ref].content for ref in self.routes()]
        server = self.box.content.get("server", {})
        whole = {**self.box.content, "server": {"managementPort": _management_port(server), **server}}
        return whole | {section: content for section, content in entries.items() if content}

    def hash(self) -> str:
        """Changes when, and only when, an agent would read something else."""
        read = {"config": self.config(), "secrets": {name: self.versions.get(name, "") for name in self.mounts()}}
        return sha256(canonical(read).encode()).hexdigest()[:16]

    def mounts(self) -> dict[str, list[str]]:
        """The Secrets that agents read, and of each the keys."""
        found: dict[str, set[str]] = {}
        for entry in (self.box, *self.entries.values()):
            for secret, key in entry.secrets:
                found.setdefault(secret, set()).add(key)
        return {secret: sorted(keys) for secret, keys in sorted(found.items())}

    def runs_agents(self) -> bool:
        """Without a route every row would go dead, unless all that comes in is pulled."""
        sources = [entry.content for entry in self.of("Source").values()]
        pulled = bool(sources) and all(content.get("consumption") == "pull" for content in sources)
        return pulled or bool(self.of("Route"))

    def replicas(self) -> int:
        """How many agents there shall be."""
        return int(self.agent.get("replicas", 1)) if self.runs_agents() else 0

    def captures(self) -> bool:
        """Whether an agent of its own, the capture owner, reads the log of the database."""
        capture = self.box.content.get("outbox", {}).get("capture", {})
        return bool(capture.get("enabled")) and capture.get("mode", "polling") != "polling"

    def capture_owners(self) -> int:
        """How many agents there shall be beside `replicas`: the owner delivers too, so it stops when they shall."""
        return 1 if self.captures() and self.replicas() else 0

    def dump(self) -> str:
        """The text that `read` reads."""
        sections = {
            section: {ref.name: _dumped(entry) for ref, entry in self.of(kind).items()}
            for kind, section in _SECTIONS.items()
        }
        secrets = {name: self.versions.get(name, "") for name in self.mounts()}
        return canonical(
            {"format": _FORMAT, "box": _dumped(self.box), "agent": self.agent, "secrets": secrets, **sections}
        )


def read(data: Manifest | None, namespace: str) -> Record | None:
    """What a ConfigMap recorded; None when it is not there, or when somebody else has written into it."""
    try:
        found = json.loads((data or {})[ENTRIES])
        if found["format"] != _FORMAT:
            return None
        entries = {
            Ref(kind, namespace, name): _read(entry)
            for kind, section in _SECTIONS.items()
            for name, entry in found[section].items()
        }
        return Record(_read(found["box"]), dict(found["agent"]), entries, dict(found["secrets"]))
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def canonical(value: object) -> str:
    """JSON of which there is only one for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def keys_by_secret(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Grouped by Secret."""
    grouped: dict[str, list[str]] = {}
    for secret, key in pairs:
        grouped.setdefault(secret, []).append(key)
    return grouped


def _management_port(server: Mapping[str, Any]) -> int:
    return MANAGEMENT_PORT + 1 if server.get("httpPort") == MANAGEMENT_PORT else MANAGEMENT_PORT


def _dumped(entry: Entry) -> dict[str, Any]:
    return {
        "generation": entry.generation,
        "created": entry.created,
        "content": entry.content,
        "secrets": keys_by_secret(entry.secrets),
        "priority": entry.priority,
    }


def _read(found: Mapping[str, Any]) -> Entry:
    pairs = tuple((str(secret), str(key)) for secret, keys in sorted(found["secrets"].items()) for key in keys)
    return Entry(int(found["generation"]), str(found["created"]), dict(found["content"]), pairs, int(found["priority"]))
