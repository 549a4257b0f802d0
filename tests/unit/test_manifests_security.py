"""What runs has no more rights than it needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.manifests import CLUSTER_WIDE, ONE_NAMESPACE, SHOP, Object, build, find, kustomization, pod_specs

OVERLAYS = (CLUSTER_WIDE, ONE_NAMESPACE)
OWNED = {"list", "watch", "create", "patch", "delete"}
OPERATOR = {
    ("queuebox.dev", kind): {"list", "watch"} for kind in ("queueboxes", "sources", "destinations", "routes")
} | {
    ("queuebox.dev", f"{kind}/status"): {"patch"} for kind in ("queueboxes", "sources", "destinations", "routes")
} | {
    ("queuebox.dev", "queueboxes/finalizers"): {"update"},
    ("", "configmaps"): OWNED,
    ("", "services"): OWNED,
    ("", "serviceaccounts"): OWNED,
    ("apps", "deployments"): OWNED,
    ("apps", "statefulsets"): OWNED,
    ("policy", "poddisruptionbudgets"): OWNED,
    ("", "secrets"): {"list", "watch"},
    ("", "pods"): {"list"},
    ("", "events"): {"create", "patch"},
}  # fmt: skip


def granted(role: Object) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                found.setdefault((group, resource), set()).update(rule["verbs"])
    return found


def roles(objects: tuple[Object, ...]) -> Iterator[Object]:
    return (it for it in objects if it["kind"] in {"Role", "ClusterRole"})


@pytest.mark.parametrize("folder", [*OVERLAYS, SHOP], ids=lambda path: path.name)
def test_every_pod_meets_the_restricted_level(folder: Path) -> None:
    for name, pod in pod_specs(build(folder)):
        context = pod["securityContext"]
        assert context["runAsNonRoot"], name
        assert context["runAsUser"] > 0
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


@pytest.mark.parametrize("folder", [CLUSTER_WIDE, SHOP], ids=lambda path: path.name)
def test_a_namespace_of_ours_enforces_the_restricted_level(folder: Path) -> None:
    (labels,) = (it["metadata"]["labels"] for it in build(folder) if it["kind"] == "Namespace")
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("folder", [*OVERLAYS, SHOP], ids=lambda path: path.name)
def test_no_pod_gets_variables_from_services(folder: Path) -> None:
    assert not any(pod.get("enableServiceLinks", True) for _, pod in pod_specs(build(folder)))


def test_only_the_operator_has_a_token() -> None:
    pods = [*pod_specs(build(CLUSTER_WIDE)), *pod_specs(build(SHOP))]
    assert [name for name, pod in pods if pod["automountServiceAccountToken"]] == ["queuebox-operator"]


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_no_role_has_a_wildcard(overlay: Path) -> None:
    for role in roles(build(overlay)):
        assert "*" not in {word for rule in role["rules"] for words in rule.values() for word in words}


@pytest.mark.parametrize(("overlay", "kind"), [(CLUSTER_WIDE, "ClusterRole"), (ONE_NAMESPACE, "Role")])
def test_the_operator_may_do_what_it_does_and_no_more(overlay: Path, kind: str) -> None:
    assert granted(find(build(overlay), kind, "queuebox-operator")) == OPERATOR


def test_the_lease_is_the_only_one_that_the_operator_may_change() -> None:
    create, change = find(build(CLUSTER_WIDE), "Role", "queuebox-operator-lease")["rules"]
    assert create["verbs"] == ["create"]
    assert change["resourceNames"] == ["queuebox-operator"]


def test_no_user_role_lets_a_person_write_status(tmp_path: Path) -> None:
    for role in roles(build(kustomization(tmp_path / "mine", [], ["user-roles"]))):
        for (_, resource), verbs in granted(role).items():
            assert not resource.endswith("/status") or verbs == {"get"}
