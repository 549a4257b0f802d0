"""One tenant: a namespace with a box, a database of its own, and what the receiver got from it."""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import SubprocessError
from typing import Any

from e2e.system import objects
from e2e.system.beside import Beside, Delivery
from services.cluster import Cluster
from services.waiting import until_sync

AGENTS = "app.kubernetes.io/name=queuebox-agent"
PASSWORD = "the-first-password"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shop:
    """Its name is that of the namespace, of the database and its user, and of the list at the receiver."""

    cluster: Cluster
    beside: Beside
    name: str

    def open(self, *more: Mapping[str, Any], takes: float = 0, **agent: Any) -> None:
        """Apply a box, a destination and a route from one to the other; returns when the box is ready."""
        self.apply(objects.queuebox(self.name, **agent), objects.destination(self.name, takes), objects.route(), *more)
        self.wait("queuebox/shop", "condition=Ready")
        self.wait("route/receiver", "condition=Ready")

    def apply(self, *wanted: Mapping[str, Any]) -> None:
        """What `kubectl apply` does with these objects."""
        stdin = "\n---\n".join(json.dumps(one) for one in wanted)
        self.kubectl("apply", "--server-side", "--force-conflicts", "--filename=-", stdin=stdin)

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        return self.cluster.kubectl(f"--namespace={self.name}", *arguments, stdin=stdin)

    def wait(self, which: str, what: str, seconds: int = 45) -> None:
        """What `kubectl wait --for` does."""
        self.kubectl("wait", which, f"--for={what}", f"--timeout={seconds}s")

    def get(self, kind: str, name: str) -> Json | None:
        return self.cluster.get(kind, name, self.name)

    def there(self, kind: str, name: str) -> Json:
        found = self.get(kind, name)
        assert found is not None, f"no {kind} {name}"
        return found

    def until_gone(self, kind: str, name: str) -> None:
        until_sync(lambda: self.get(kind, name) is None, 30, f"the end of {kind} {name}", every=0.2)

    def condition(self, kind: str, name: str, of: str) -> Json:
        """The condition, of the newest spec; empty before there is one."""
        found = self.there(kind, name)
        status = found.get("status", {})
        if status.get("observedGeneration") != found["metadata"]["generation"]:
            return {}
        return next((one for one in status.get("conditions", []) if one["type"] == of), {})

    def until_condition(self, kind: str, name: str, of: str, status: str, reason: str) -> str:
        """Wait for it; its message."""
        look: list[Json] = [{}]

        def holds() -> bool:
            look[0] = self.condition(kind, name, of)
            return (look[0].get("status"), look[0].get("reason")) == (status, reason)

        try:
            until_sync(holds, 20, f"{of}={status} with reason {reason} of {kind} {name}", every=0.2)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {look[0]}") from None
        return str(look[0]["message"])

    def agents(self) -> list[Json]:
        """The pods of the box that are not going."""
        pods = self.cluster.list("Pod", self.name, AGENTS)
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def uids(self) -> set[str]:
        """Which agents there are: another pod, or one that restarted, makes another set."""
        return {
            f"{pod['metadata']['uid']}/{status['restartCount']}"
            for pod in self.agents()
            for status in pod["status"].get("containerStatuses", [])
        }

    def psql(self, script: str) -> str:
        return self.beside.psql(self.name, script)

    def insert(self, *topics: str, key: str | None = None) -> None:
        """One row for each topic; the table is there when the first agent was ready."""
        literal = f"'{key}'" if key else "NULL"
        rows = ", ".join(f"('{topic}', {literal}, '{{\"n\": {n}}}')" for n, topic in enumerate(topics))
        self.psql(f"INSERT INTO outbox (topic, key, payload) VALUES {rows}")

    def received(self, topic: str) -> list[Delivery]:
        return self.beside.received(self.name, topic)

    def until_received(self, topic: str, seconds: float = 20) -> Delivery:
        """The first delivery of this topic, waited for."""
        found: list[Delivery] = []

        def came() -> bool:
            found[:] = self.received(topic)[:1]
            return bool(found)

        until_sync(came, seconds, f"a delivery of {topic}", every=0.2)
        return found[0]

    def delivers(self, seconds: float = 20) -> Delivery:
        """Insert a row of a topic of its own and wait until it arrives."""
        topic = f"order.{uuid.uuid4().hex[:8]}"
        self.insert(topic)
        return self.until_received(topic, seconds)

    def dead(self) -> int:
        return int(self.psql("SELECT count(*) FROM outbox WHERE state = 'dead'"))

    def story(self) -> str:
        """What somebody would look at first when something is wrong."""
        parts = []
        for command in (
            ["get", "queuebox,deployments,pods", "--output=wide"],
            ["get", "queuebox", "--output=jsonpath={.items[*].status}"],
            ["get", "events", "--sort-by=.lastTimestamp"],
            ["logs", f"--selector={AGENTS}", "--tail=30", "--prefix"],
        ):
            try:
                parts.append(self.kubectl(*command))
            except (AssertionError, SubprocessError) as error:
                parts.append(f"{command}: {error}")
        return "\n".join(parts)


@contextmanager
def new_shop(cluster: Cluster, beside: Beside) -> Iterator[Shop]:
    """A namespace and a database; the namespace is asked to go at the end."""
    name = f"shop-{uuid.uuid4().hex[:6]}"
    beside.psql("postgres", f"""CREATE ROLE "{name}" LOGIN PASSWORD '{PASSWORD}'""")
    beside.psql("postgres", f'CREATE DATABASE "{name}" OWNER "{name}"')
    cluster.apply(objects.namespace(name))
    cluster.apply(objects.secret("database", password=PASSWORD), namespace=name)
    try:
        yield Shop(cluster, beside, name)
    finally:
        cluster.delete("Namespace", name)


def out_of_order(deliveries: list[Delivery]) -> list[str]:
    """The keys whose rows arrived, for the first time each, in another order than they were written in."""
    seen: set[str] = set()
    by_key: dict[str | None, list[int]] = defaultdict(list)
    for one in deliveries:
        if one.id not in seen:
            seen.add(one.id)
            by_key[one.key].append(one.body["n"])
    return [str(key) for key, numbers in by_key.items() if numbers != sorted(numbers)]
