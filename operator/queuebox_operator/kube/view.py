"""The cluster by box: what a reconcile of one box asks costs what that box has, not what the cluster has."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from queuebox_api.resources import secret_refs
from queuebox_operator.facts import Manifest, Ref, Resource, SecretFact, Workload
from queuebox_operator.kube.cache import Cache
from queuebox_operator.kube.objects import Held, Owned
from queuebox_operator.record import read

Value = TypeVar("Value")


class View:
    """Boxes are named by their Ref, whether or not there is a QueueBox of that name."""

    def __init__(self) -> None:
        self.cache = Cache(self._settled)
        self._writing = False
        self._tell: list[Callable[[Ref], None]] = []
        self._boxes: dict[Ref, Resource] = {}
        self._members: defaultdict[Ref, dict[Ref, Resource]] = defaultdict(dict)
        self._owned: defaultdict[Ref, dict[Ref, Owned]] = defaultdict(dict)
        self._secrets: dict[Ref, SecretFact] = {}
        self._named: dict[Ref, frozenset[Ref]] = {}
        self._users: defaultdict[Ref, dict[Ref, Ref]] = defaultdict(dict)

    def changed(self, tell: Callable[[Ref], None]) -> None:
        """From now on have `tell` hear each box that a change concerns; after a move, the old one and the new one."""
        self._tell.append(tell)

    def wrote(self, answer: Manifest) -> None:
        """Take in the answer to a write of our own: its watch then has nothing new to tell.

        A status that we wrote ourselves is no news; whatever else the answer holds is.
        """
        self._writing = True
        try:
            self.cache.saw(answer["kind"], answer)
        finally:
            self._writing = False

    def boxes(self) -> set[Ref]:
        """Every box that exists, is named by a resource, or has objects."""
        return {*self._boxes, *self._members, *self._owned}

    def box(self, ref: Ref) -> Resource | None:
        """The QueueBox; None when there is none."""
        return self._boxes.get(ref)

    def sources_of(self, box: Ref) -> tuple[Resource, ...]:
        """The Sources that name the box, by name."""
        return self._members_of(box, "Source")

    def destinations_of(self, box: Ref) -> tuple[Resource, ...]:
        """The Destinations that name the box, by name."""
        return self._members_of(box, "Destination")

    def routes_of(self, box: Ref) -> tuple[Resource, ...]:
        """The Routes that name the box, by name."""
        return self._members_of(box, "Route")

    def secrets_of(self, box: Ref) -> dict[str, SecretFact]:
        """Those Secrets that exist and that the box, its resources or its last good entries name, by name."""
        users = [box, *self._members.get(box, ()), *self._owned.get(box, ())]
        named = {secret for user in users for secret in self._named.get(user, ())}
        return {secret.name: self._secrets[secret] for secret in named if secret in self._secrets}

    def owned_by(self, box: Ref) -> Mapping[Ref, Owned]:
        """The objects that carry the labels of the box."""
        return self._owned.get(box, {})

    def workload(self, ref: Ref, box: Ref) -> Workload | None:
        """How that Deployment or StatefulSet of the box does; None when there is none."""
        found = self.owned_by(box).get(ref)
        return found.workload if found else None

    def resources(self) -> Iterator[Resource]:
        """Every custom resource."""
        yield from self._boxes.values()
        for members in self._members.values():
            yield from members.values()

    def _members_of(self, box: Ref, kind: str) -> tuple[Resource, ...]:
        found = [it for ref, it in self._members.get(box, {}).items() if ref.kind == kind]
        return tuple(sorted(found, key=lambda it: it.ref.name))

    def _settled(self, ref: Ref, old: Held | None, new: Held | None) -> None:
        concerned = self._concerned(ref, old)
        self._keep(ref, old, new)
        if self._writing and _same_but_status(old, new):
            return
        for box in sorted(concerned | self._concerned(ref, new)):
            for tell in self._tell:
                tell(box)

    def _concerned(self, ref: Ref, held: Held | None) -> set[Ref]:
        match held:
            case SecretFact():
                return set(self._users.get(ref, {}).values())
            case Resource() | Owned():
                return {box} if (box := box_of(held)) else set()
            case None:
                return set()

    def _keep(self, ref: Ref, old: Held | None, new: Held | None) -> None:
        if old is not None:
            self._forget(ref, old)
        match new:
            case None:
                pass
            case SecretFact():
                self._secrets[ref] = new
            case Owned():
                self._keep_owned(new)
            case Resource():
                self._keep_resource(new)

    def _keep_resource(self, new: Resource) -> None:
        box = box_of(new)
        if new.ref == box:
            self._boxes[box] = new
        elif box:
            self._members[box][new.ref] = new
        if box:
            self._index(new.ref, box, (name for _, name, _ in secret_refs(new.ref.kind, new.spec)))

    def _keep_owned(self, new: Owned) -> None:
        if box := new.box:
            self._owned[box][new.ref] = new
            # Agents also read what no spec names any more: of a last good entry, and of one that was deleted.
            record = read(new.data, new.ref.namespace)
            self._index(new.ref, box, record.mounts() if record else ())

    def _index(self, user: Ref, box: Ref, names: Iterable[str]) -> None:
        secrets = frozenset(Ref("Secret", user.namespace, name) for name in names)
        self._named[user] = secrets
        for secret in secrets:
            self._users[secret][user] = box

    def _forget(self, ref: Ref, old: Held) -> None:
        self._secrets.pop(ref, None)
        self._boxes.pop(ref, None)
        for secret in self._named.pop(ref, ()):
            _drop(self._users, secret, ref)
        box = None if isinstance(old, SecretFact) else box_of(old)
        if box:
            _drop(self._members, box, ref)
            _drop(self._owned, box, ref)


def box_of(held: Resource | Owned) -> Ref | None:
    """The box that an object belongs to."""
    if isinstance(held, Owned):
        return held.box
    if held.ref.kind == "QueueBox":
        return held.ref
    name = (held.spec.get("queueBoxRef") or {}).get("name")
    return Ref("QueueBox", held.ref.namespace, name) if name else None


def _same_but_status(old: Held | None, new: Held | None) -> bool:
    return isinstance(old, Resource) and isinstance(new, Resource) and replace(old, status=new.status) == new


def _drop(index: dict[Ref, dict[Ref, Value]], key: Ref, entry: Ref) -> None:
    if entries := index.get(key):
        entries.pop(entry, None)
        if not entries:
            del index[key]
