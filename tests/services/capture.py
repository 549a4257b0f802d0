"""A box whose agents capture, as its ConfigMap records it."""

from queuebox_operator.facts import Ref, Resource
from queuebox_operator.record import Entry, Record
from services.box_world import NAMESPACE, time_of

STATE = "/var/lib/queuebox/capture"


def box(name: str = "orders", namespace: str = NAMESPACE) -> Resource:
    return Resource(Ref("QueueBox", namespace, name), f"uid-of-{name}", 1, time_of(1), {})


def recorded(replicas: int = 1, *, routes: bool = True, **capture: object) -> Record:
    """One Destination and, unless told otherwise, one Route; capture as told."""
    content = {
        "database": {"url": "postgresql://queuebox:password@db.example.com/shop"},
        **({"outbox": {"capture": capture}} if capture else {}),
    }
    entries = {Ref("Destination", NAMESPACE, "api"): _entry(type="http", baseUrl="https://api.example.com")}
    if routes:
        entries[Ref("Route", NAMESPACE, "orders")] = _entry(topicPattern="order.*", destination="api")
    return Record(Entry(1, time_of(1), content), {"replicas": replicas}, entries)


def capturing(replicas: int = 1, *, routes: bool = True) -> Record:
    """With capture on."""
    return recorded(replicas, routes=routes, mode="postgres-logical", enabled=True, stateDirectory=STATE)


def _entry(**content: object) -> Entry:
    return Entry(1, time_of(1), content)
