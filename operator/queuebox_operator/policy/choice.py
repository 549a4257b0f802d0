"""Which entry of each resource goes into the configuration: the one that it asks for, its last good one, or none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from queuebox_api.resources import Reason
from queuebox_operator.facts import Ref
from queuebox_operator.policy.box import BoxVerdict
from queuebox_operator.policy.verdict import Refusal, Secrets, Verdict
from queuebox_operator.policy.whole import Whole
from queuebox_operator.record import Entry, Record

MOST_ROUNDS: Final = 20
"""Each round takes out what collides with what is older; nobody needs more than a few."""
_NOBODY: Final = Entry(0, "", {"database": {"url": "postgresql://user:password@database/name"}})
"""Stands for a box without a configuration, so that its other resources get a verdict too."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that the choice is made from."""

    box: Ref
    of_box: BoxVerdict
    verdicts: Mapping[Ref, Verdict]
    """Of each Source, Destination and Route that is there."""
    specs: Mapping[Ref, Mapping[str, Any]]
    before: Record | None
    runs: bool = False
    """Whether agents of the box run already, with or without a record of what."""
    secrets: Secrets = field(default_factory=dict)

    def last_good(self, ref: Ref) -> Entry | None:
        """What ran of it before."""
        return self.before.entries.get(ref) if self.before else None


@dataclass(frozen=True, slots=True)
class Choice:
    """The configuration that the agents of a box shall have."""

    record: Record | None
    """None: the box never had a sound spec."""
    refused: Mapping[Ref, Refusal]
    """What is wrong only together with the others, or cannot be done yet."""
    unresolved: Mapping[Ref, Refusal]
    """Routes whose Destination is not there."""
    waiting: Mapping[Ref, Refusal]
    """Routes whose Destination is there, and has no entry."""
    frozen: bool = False
    """A last good entry is not good any more, by new rules, or it is needed and forgotten: nothing is changed, so that
    nothing breaks.
    """


def choose(asked: Asked) -> Choice:
    """The choice. Where agents run what nobody remembers, nothing is left out that they may have."""
    choice = _chosen(asked)
    forgotten = asked.before is None and asked.runs
    return replace(choice, record=None, frozen=True) if forgotten and _leaves_out(asked, choice) else choice


def _leaves_out(asked: Asked, choice: Choice) -> bool:
    """Whether something that is there has no entry."""
    entries = choice.record.entries if choice.record else {}
    return any(ref not in entries for ref in asked.verdicts)


def _chosen(asked: Asked) -> Choice:
    """It ends, because a resource is refused once at most."""
    refused: dict[Ref, Refusal] = {}
    for _ in range(MOST_ROUNDS):
        routes = _Routes(asked, refused)
        record = _record(asked, refused, routes.entries())
        found = Whole(record, asked.box, asked.specs, _before(asked)).refusals()
        fresh = {ref: why for ref, why in found.items() if ref not in refused and _is_asked_for(asked, ref, record)}
        if not found:
            there = record if record.box is not _NOBODY and _agent(asked) is not None else None
            return Choice(there, refused, routes.unresolved, routes.waiting)
        if not fresh:
            return Choice(asked.before, found | refused, routes.unresolved, routes.waiting, frozen=True)
        refused |= fresh
    return Choice(asked.before, refused, {}, {}, frozen=True)


class _Routes:
    """Chooses in an order in which each choice is final: sources and destinations, routes, and what routes keep."""

    def __init__(self, asked: Asked, refused: Mapping[Ref, Refusal]) -> None:
        self._asked, self._refused = asked, refused
        self.unresolved: dict[Ref, Refusal] = {}
        self.waiting: dict[Ref, Refusal] = {}

    def entries(self) -> dict[Ref, Entry]:
        entries: dict[Ref, Entry] = {}
        for ref in self._asked.verdicts:
            if ref.kind != "Route" and (entry := self._new(ref) or self._asked.last_good(ref)):
                entries[ref] = entry
        there = frozenset(entries)
        for ref in self._asked.verdicts:
            if ref.kind == "Route" and (entry := self._leading_somewhere(ref, there)):
                entries[ref] = entry
                destination = _destination(ref, entry)
                if destination not in there and (kept := self._asked.last_good(destination)):
                    entries[destination] = kept  # deleted, and still named
        return entries

    def _new(self, ref: Ref) -> Entry | None:
        return None if ref in self._refused else self._asked.verdicts[ref].entry

    def _leading_somewhere(self, ref: Ref, there: frozenset[Ref]) -> Entry | None:
        asked = self._asked.verdicts[ref].asked
        if asked and (problem := self._problem(_destination(ref, asked), there)):
            where = self.unresolved if problem.reason == Reason.DESTINATION_NOT_FOUND else self.waiting
            where[ref] = problem
        new, old = self._new(ref), self._asked.last_good(ref)
        if new and _destination(ref, new) in there:
            return new
        if old and (_destination(ref, old) in there or self._asked.last_good(_destination(ref, old))):
            return old
        return None

    def _problem(self, destination: Ref, there: frozenset[Ref]) -> Refusal | None:
        if destination in there:
            return None
        name = destination.name
        if destination in self._asked.verdicts:
            return Refusal(Reason.NOT_PROGRAMMED, f"the Destination {name} never was valid and resolved")
        text = f"spec.destinationRef.name: there is no Destination {name} that names this QueueBox"
        return Refusal(Reason.DESTINATION_NOT_FOUND, text)


def _destination(route: Ref, entry: Entry) -> Ref:
    return Ref("Destination", route.namespace, str(entry.content.get("destination")))


def _is_asked_for(asked: Asked, ref: Ref, record: Record) -> bool:
    """Whether the record holds what the resource asks for, and not what it kept."""
    if ref == asked.box:
        return asked.of_box.sections.entry is record.box
    return ref in asked.verdicts and asked.verdicts[ref].entry is record.entries.get(ref)


def _before(asked: Asked) -> Mapping[Ref, Entry]:
    return {asked.box: asked.before.box, **asked.before.entries} if asked.before else {}


def _agent(asked: Asked) -> Mapping[str, Any] | None:
    if asked.of_box.agent is not None:
        return asked.of_box.agent
    return asked.before.agent if asked.before else None


def _record(asked: Asked, refused: Mapping[Ref, Refusal], entries: Mapping[Ref, Entry]) -> Record:
    box = None if asked.box in refused else asked.of_box.sections.entry
    box = box or (asked.before.box if asked.before else None) or _NOBODY
    record = Record(box, _agent(asked) or {}, entries)
    before = asked.before.versions if asked.before else {}
    versions = {name: _version(name, keys, asked.secrets, before) for name, keys in record.mounts().items()}
    return Record(box, record.agent, entries, versions)


def _version(name: str, keys: list[str], secrets: Secrets, before: Mapping[str, str]) -> str:
    """A Secret that vanished, or lost a key that is read, keeps its version: no agent would start with the new one."""
    secret = secrets.get(name)
    complete = secret is not None and (secret.keys is None or secret.keys.issuperset(keys))
    return secret.version if secret and complete else before.get(name, "")
