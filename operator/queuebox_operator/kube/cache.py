"""What the cluster holds, as far as it was heard of."""

from collections.abc import Callable, Iterable

from queuebox_operator.facts import Manifest, Ref
from queuebox_operator.kube.objects import Held, held, ref_of, version_of

MOST_REMEMBERED = 10_000


class Cache:
    """`changed(ref, old, new)` is called once for every difference.

    A list replaces what was known: an object that went away between a broken watch and the next list is in no event.
    Versions are numbers that grow, so what arrives late or twice is ignored.
    """

    def __init__(self, changed: Callable[[Ref, Held | None, Held | None], None]) -> None:
        self._changed = changed
        self._held: dict[Ref, tuple[int, Held]] = {}
        self._listed: dict[tuple[str, str | None], int] = {}
        self._gone: dict[Ref, int] = {}

    def __len__(self) -> int:
        return len(self._held)

    def listed(self, kind: str, namespace: str | None) -> bool:
        """Whether a whole list of it was seen."""
        return (kind, namespace) in self._listed

    def saw(self, kind: str, found: Manifest, *, gone: bool = False) -> None:
        """From a watch, or from the answer to a write of our own: then the watch has nothing new to tell."""
        ref, version = ref_of(kind, found), version_of(found)
        if version <= self._known(ref):
            return
        if gone:
            self._remember_gone(ref, version)
        self._settle(ref, version, None if gone else held(kind, found))

    def replace(self, kind: str, namespace: str | None, version: int, items: Iterable[Manifest]) -> None:
        """From a whole list, of one namespace or of all, and the version that it has as a list."""
        found = {ref_of(kind, item): item for item in items}
        known = {ref for ref in self._held if ref.kind == kind and namespace in {None, ref.namespace}}
        for ref in known - found.keys():
            if version > self._known(ref):
                self._settle(ref, version, None)
        for ref, item in found.items():
            if version_of(item) > self._known(ref):
                self._settle(ref, version_of(item), held(kind, item))
        self._listed[kind, namespace] = version

    def _known(self, ref: Ref) -> int:
        """The version up to which nothing about this object is news."""
        here = self._held.get(ref)
        if here:
            return here[0]
        # What is not held was not in the lists either, so it was not there then.
        lists = (self._listed.get((ref.kind, namespace), 0) for namespace in (None, ref.namespace))
        return max(self._gone.get(ref, 0), *lists)

    def _remember_gone(self, ref: Ref, version: int) -> None:
        self._gone[ref] = version
        if len(self._gone) > MOST_REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def _settle(self, ref: Ref, version: int, new: Held | None) -> None:
        _, old = self._held.pop(ref, (0, None))
        if new is not None:
            self._held[ref] = version, new
            self._gone.pop(ref, None)
        if old != new:
            self._changed(ref, old, new)
