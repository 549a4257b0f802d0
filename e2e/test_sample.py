"""The sample of the manifests, as a newcomer applies it."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from e2e.system import images, objects
from e2e.system.figures import figure
from e2e.system.kustomize import ROOT, kustomization
from e2e.system.operator import Operator
from services.cluster import Cluster
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

SHOP = "--namespace=shop"
ROW = "INSERT INTO outbox (topic, payload) VALUES ('order.created', '{\"order\": 1}')"
# Somebody who waits for the table only. Each look is a transaction of its own, or it would see the same for ever.
TABLE = "DO $$ BEGIN WHILE to_regclass('public.outbox') IS NULL LOOP COMMIT; PERFORM pg_sleep(0.05); END LOOP; END $$"


@pytest.fixture(scope="module")
def sample(cluster: Cluster, operator: Operator) -> Iterator[float]:
    """The sample, applied; seconds from that until the receiver got the first row."""
    replaced = images.replaced(**{"queuebox/queuebox": images.PRODUCT, "postgres": images.BESIDE})
    with kustomization("samples/shop", images=replaced) as folder:
        began = time.time()
        cluster.kubectl("apply", "--server-side", "--kustomize", folder)
    cluster.kubectl("rollout", "status", "deployment/postgres", SHOP, "--timeout=60s")
    cluster.kubectl(
        "exec", "deployment/postgres", SHOP, "--", "psql", "--quiet", f"--command={TABLE}", f"--command={ROW}"
    )
    until_sync(lambda: bool(deliveries(cluster)), 60, "the first delivery", every=0.2)
    yield deliveries(cluster)[0] - began
    cluster.delete("Namespace", "shop")


def deliveries(cluster: Cluster) -> list[float]:
    """When the receiver said that something came."""
    said = cluster.kubectl("logs", "deployment/receiver", SHOP, "--timestamps")
    lines = [line.split(" ", 1) for line in said.splitlines()]
    return [datetime.fromisoformat(at).timestamp() for at, what in lines if what.startswith("delivered POST /orders")]


def test_a_row_of_the_applied_sample_arrives(sample: float) -> None:
    figure("from kubectl apply of the sample to its first delivery", sample, goal=15)
    assert sample < 60


@pytest.mark.parametrize("which", ["queuebox/shop", "destination/orders", "route/orders"])
def test_kubectl_waits_until_it_is_ready(sample: float, cluster: Cluster, which: str) -> None:
    cluster.kubectl("wait", which, SHOP, "--for=condition=Ready", "--timeout=30s")


def test_kubectl_waits_for_a_source_that_this_version_cannot_run(sample: float, cluster: Cluster) -> None:
    source = (ROOT / "manifests/samples/source.yaml").read_text()
    cluster.apply(objects.secret("stripe-webhook", secret="of-a-test"), source, namespace="shop")
    for condition in ("Accepted", "Ready"):
        cluster.kubectl("wait", "source/stripe", SHOP, f"--for=condition={condition}=False", "--timeout=30s")
    reason = "--output=jsonpath={.status.conditions[?(@.type=='Accepted')].reason}"
    assert cluster.kubectl("get", "source/stripe", SHOP, reason) == "Unsupported"


def test_the_list_of_the_category_shows_every_kind(sample: float, cluster: Cluster) -> None:
    listed = cluster.kubectl("get", "queuebox", SHOP, "--output=name").split()
    assert {"queuebox.queuebox.dev/shop", "destination.queuebox.dev/orders", "route.queuebox.dev/orders"} <= set(listed)


def test_what_the_agents_report_is_in_the_status_of_the_box(sample: float, cluster: Cluster) -> None:
    def states() -> list[str]:
        box = cluster.get("QueueBox", "shop", "shop")
        assert box is not None
        return [one["name"] for one in box["status"].get("destinationStates", [])]

    until_sync(lambda: states() == ["orders"], 40, "the state of the destination", every=0.5)
