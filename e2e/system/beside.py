"""What stands beside the product: one PostgreSQL pod and one receiver pod for all tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.system.images import BESIDE
from services.cluster import Cluster

NAMESPACE = "queuebox-e2e"
RECEIVER = f"/api/v1/namespaces/{NAMESPACE}/services/http:receiver:8080/proxy"
MANIFESTS = Path(__file__).with_name("beside.yaml")


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the receiver got once."""

    id: str
    topic: str
    key: str | None
    attempt: int
    authorization: str | None
    body: Any
    at: float
    """Seconds since 1970, by the clock of the node."""


@dataclass(frozen=True, slots=True)
class Beside:
    """PostgreSQL and receiver in the cluster."""

    cluster: Cluster

    def install(self) -> None:
        """Returns when both are ready."""
        self.cluster.apply(MANIFESTS.read_text().replace("IMAGE", BESIDE))
        for name in ("postgres", "receiver"):
            self.cluster.kubectl("rollout", "status", f"deployment/{name}", "--namespace", NAMESPACE, "--timeout=80s")

    def psql(self, database: str, script: str) -> str:
        """What the script prints, as the administrator of the server: values without decoration."""
        return self.cluster.kubectl(*psql_command(database), stdin=script).strip()

    def received(self, box: str, topic: str) -> list[Delivery]:
        """What came for this box with this topic, in order of arrival."""
        return [Delivery(**one) for one in self.cluster.ask(f"{RECEIVER}/received/{box}/{topic}")]

    def count(self, box: str, topic: str) -> tuple[int, Delivery | None]:
        """How many different messages those are, and the last delivery."""
        answer = self.cluster.ask(f"{RECEIVER}/count/{box}/{topic}")
        return answer["messages"], Delivery(**answer["last"]) if answer["last"] else None


def psql_command(database: str) -> list[str]:
    """Arguments of kubectl for a psql that reads a script."""
    options = ["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1", f"--dbname={database}"]
    return [
        "exec", "--stdin", "deployment/postgres", "--namespace", NAMESPACE, "--",
        "psql", "--host=/var/run/postgresql", "--username=postgres", *options,
    ]  # fmt: skip
