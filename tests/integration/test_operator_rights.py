"""What the operator asks of the API server against what manifests/ grant it, both ways; and what it never sees."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from services.apiserver import ROOT, ApiServer
from services.boxes import NAME, Namespace, box, destination, route, secret, source, whole
from services.operators import OperatorProcess, operator
from services.waiting import until

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(180)]

HOME = "queuebox-system"
ACCOUNT = "queuebox-operator"
BASE = ROOT / "manifests" / "base"
MARK = "the-value-that-nobody-may-see"


class Right(NamedTuple):
    group: str
    resource: str
    verb: str


OWNED = {
    ("", "configmaps"), ("", "services"), ("", "serviceaccounts"), ("apps", "deployments"), ("apps", "statefulsets"),
    ("policy", "poddisruptionbudgets"),
}  # fmt: skip
NOT_SEEN = {
    Right("queuebox.dev", "queueboxes/finalizers", "update"): "asked for by a plug-in of admission, not by a request",
    Right("", "events", "create"): "a server-side apply of what is not there yet is a patch in the log",
    Right("apps", "statefulsets", "patch"): "for the owner of a capture, which this version cannot run yet",
    **{Right(*kind, "create"): "a server-side apply of what is not there is a patch in the log" for kind in OWNED},
    **{Right(*kind, "delete"): "a box that changes its shape: a budget, another workload" for kind in OWNED},
}
"""Rights that no request of the test uses, and what they are for."""


def documents(name: str) -> Iterator[dict[str, Any]]:
    for path in sorted(BASE.glob("*.yaml")):
        yield from (it for it in yaml.safe_load_all(path.read_text()) if it and it.get("kind") == name)


def granted() -> set[Right]:
    rules = [rule for kind in ("ClusterRole", "Role") for it in documents(kind) for rule in it["rules"]]
    return {
        Right(group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def used(server: ApiServer) -> dict[Right, int]:
    """Each right that the operator used, and the worst answer it got."""
    found: dict[Right, int] = {}
    for call in server.calls():
        of = call.get("objectRef")
        if call["user"]["username"] != f"system:serviceaccount:{HOME}:{ACCOUNT}" or not of:
            continue
        resource = of["resource"] + (f"/{of['subresource']}" if "subresource" in of else "")
        right = Right(of.get("apiGroup", ""), resource, call["verb"])
        found[right] = max(found.get(right, 0), call.get("responseStatus", {}).get("code", 0))
    return found


@pytest.fixture
def shop(own_api_server: ApiServer) -> Namespace:
    return Namespace(own_api_server.cluster, "default")


@pytest.fixture
def account(own_api_server: ApiServer) -> Path:
    """A kubeconfig with the rights of the manifests and no others."""
    cluster = own_api_server.cluster
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
    kinds = ("ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding")
    cluster.apply(*(it for kind in kinds for it in documents(kind)))
    return own_api_server.kubeconfig_of(ACCOUNT, cluster.token(ACCOUNT, HOME))


@pytest.fixture
async def running(account: Path, shop: Namespace) -> AsyncIterator[OperatorProcess]:
    async with operator(account, f"--lease-namespace={HOME}") as process:
        yield process


async def everything(shop: Namespace) -> None:
    """Each thing that the operator does, once."""
    await shop.deliver(*whole(agent={"replicas": 2}))
    shop.apply(box(agent={"replicas": 1}), route(to="nowhere"))
    await until(lambda: not shop.there("PodDisruptionBudget"), 10, "no budget", every=0.05)
    await shop.until("Route", "orders", "ResolvedRefs=False")
    shop.apply(route(), source())
    await shop.until("Route", "orders", "ResolvedRefs=True")
    await shop.until("Source", "stripe", "Accepted=False", "Unsupported")
    shop.apply(route(to="nowhere"))  # told before: the event is counted up
    await shop.until("Route", "orders", "ResolvedRefs=False")
    shop.apply(route(), destination("other", url="http://other:8080"))
    await until(lambda: "other" in shop.config()["destinations"], 10, "the change", every=0.05)
    shop.cluster.delete("QueueBox", NAME, shop.name)
    await shop.until("Route", "orders", "ResolvedRefs=False", "QueueBoxNotFound")


@pytest.mark.usefixtures("running")
async def test_the_rights_of_the_manifests_are_those_that_are_used(own_api_server: ApiServer, shop: Namespace) -> None:
    await everything(shop)
    calls = used(own_api_server)
    assert calls.keys() - granted() == set()
    assert {right for right, worst in calls.items() if worst == 403} == set()
    assert granted() - calls.keys() <= NOT_SEEN.keys()


async def test_without_rights_it_ends_and_says_why(own_api_server: ApiServer, tmp_path: Path) -> None:
    cluster = own_api_server.cluster
    cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nobody"}}, namespace="default")
    nobody = own_api_server.kubeconfig_of("nobody", cluster.token("nobody", "default"))
    process = OperatorProcess(nobody, tmp_path)
    await process.start(wait=False)
    assert await process.ended(90) == 1
    assert "is forbidden" in process.log
    assert process.log.splitlines()[-1].startswith("error: ")


async def test_the_value_of_a_secret_never_reaches_the_process(shop: Namespace, running: OperatorProcess) -> None:
    shop.apply(secret(password=MARK), *whole()[1:])
    await until(lambda: shop.there("Deployment"), 10, "the Deployment", every=0.05)
    shop.apply(secret(password=f"{MARK}-again"))
    shop.run_agents()
    await shop.until("QueueBox", NAME, "ResolvedRefs=True")
    assert running.process is not None
    assert holds(running.process.pid, b"database-app")
    assert not holds(running.process.pid, MARK.encode())
    assert MARK not in running.log


def holds(process: int, text: bytes) -> bool:
    """Whether the text is anywhere in what the process has written to its memory."""
    maps = Path(f"/proc/{process}/maps").read_text()
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for begin, end in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps, re.MULTILINE):
            memory.seek(int(begin, 16))
            try:
                found = text in memory.read(int(end, 16) - int(begin, 16))
            except OSError:  # a page that is not there
                continue
            if found:
                return True
    return False
