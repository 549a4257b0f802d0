"""A real API server takes what a person applies, strictly and under the level of pod security that it asks for."""

from collections.abc import Iterator

import pytest

from services.apiserver import missing, running_api_server
from services.cluster import Cluster
from services.manifests import CLUSTER_WIDE, MANIFESTS, SHOP, build, pod_specs, sample_files

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(180)]

OPERATOR = "--as=system:serviceaccount:queuebox-system:queuebox-operator"
SHOP_OBJECTS = {"queuebox.queuebox.dev/shop", "destination.queuebox.dev/orders", "route.queuebox.dev/orders"}
OTHER_OBJECTS = {"queuebox.queuebox.dev/orders", "source.queuebox.dev/stripe"}


@pytest.fixture(scope="module")
def installed() -> Iterator[Cluster]:
    """A cluster with install.yaml and the sample, and nothing that runs them."""
    if reason := missing():
        pytest.skip(reason)
    with running_api_server() as server:
        cluster = server.cluster
        # The definitions are there already, of another hand.
        strictly = ("--server-side", "--force-conflicts", "--validate=strict")
        cluster.kubectl("apply", *strictly, f"--filename={MANIFESTS / 'install.yaml'}")
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        cluster.kubectl("apply", "--validate=strict", f"--kustomize={SHOP}")
        yield cluster


def test_every_sample_is_accepted(installed: Cluster) -> None:
    for path in sample_files():
        if path.parent != SHOP:
            installed.kubectl("apply", "--validate=strict", "--namespace=shop", f"--filename={path}")
    listed = installed.kubectl("get", "queuebox", "--namespace=shop", "--output=name").split()
    assert set(listed) == SHOP_OBJECTS | OTHER_OBJECTS


def test_the_sample_may_be_applied_again(installed: Cluster) -> None:
    applied = installed.kubectl("apply", "--validate=strict", f"--kustomize={SHOP}")
    assert all(line.endswith(("unchanged", "configured")) for line in applied.splitlines())


def test_every_pod_is_admitted_at_the_restricted_level(installed: Cluster) -> None:
    for folder, namespace in ((CLUSTER_WIDE, "queuebox-system"), (SHOP, "shop")):
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        pods = [
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
            for name, spec in pod_specs(build(folder))
        ]
        assert pods
        installed.apply(account, *pods, namespace=namespace)


@pytest.mark.parametrize(
    "what", ["list secrets", "patch queueboxes.queuebox.dev --subresource=status", "delete deployments.apps"]
)
def test_the_operator_may(installed: Cluster, what: str) -> None:
    assert installed.kubectl("auth", "can-i", *what.split(), OPERATOR, "--namespace=shop").strip() == "yes"


@pytest.mark.parametrize(
    "what",
    [
        "get secrets",
        "create pods",
        "patch queueboxes.queuebox.dev",
        "get leases.coordination.k8s.io",
        "create rolebindings.rbac.authorization.k8s.io",
        "create serviceaccounts --subresource=token",
    ],
)
def test_the_operator_may_not(installed: Cluster, what: str) -> None:
    installed.kubectl("auth", "can-i", *what.split(), OPERATOR, "--namespace=shop", refused=True)
