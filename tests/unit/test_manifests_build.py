"""Every overlay and component goes with the others, and what a user sets reaches all that it must."""

import tomllib
from collections.abc import Iterator
from itertools import chain, combinations
from pathlib import Path

import pytest

from queuebox_api.resources import KINDS
from services.manifests import CLUSTER_WIDE, MANIFESTS, ONE_NAMESPACE, ROOT, SHOP, build, find, kustomization, read

COMPONENTS = {
    CLUSTER_WIDE: ("webhook", "monitoring", "network-policy", "agent-network-policy"),
    ONE_NAMESPACE: ("user-roles", "monitoring-one-namespace", "network-policy", "agent-network-policy"),
}
CLUSTER_SCOPED = {"Namespace", "ClusterRole", "ClusterRoleBinding", "ValidatingWebhookConfiguration"}


def choices() -> Iterator[tuple[Path, tuple[str, ...]]]:
    for overlay, names in COMPONENTS.items():
        for chosen in chain.from_iterable(combinations(names, count) for count in range(len(names) + 1)):
            yield overlay, chosen


def choice_name(value: object) -> str:
    return value.name if isinstance(value, Path) else "+".join(value) or "alone" if isinstance(value, tuple) else ""


@pytest.mark.parametrize(("overlay", "components"), list(choices()), ids=choice_name)
def test_a_combination_builds(tmp_path: Path, overlay: Path, components: tuple[str, ...]) -> None:
    objects = build(kustomization(tmp_path / "mine", [overlay], components))
    assert len({(it["kind"], it["metadata"]["name"]) for it in objects}) == len(objects)
    assert find(objects, "Deployment", "queuebox-operator")


def test_every_component_is_in_a_combination() -> None:
    built_in = {"user-roles", "monitoring"}  # the overlay and the component that stand on it have it
    tested = set(chain.from_iterable(COMPONENTS.values())) | built_in
    assert {path.name for path in (MANIFESTS / "components").iterdir()} == tested


def test_one_image_entry_is_for_the_operator_and_for_its_agents(tmp_path: Path) -> None:
    images = [{"name": "queuebox/queuebox", "newName": "registry.example.com/queuebox", "newTag": "9"}]
    for overlay in COMPONENTS:
        objects = build(kustomization(tmp_path / overlay.name, [overlay], images=images))
        (container,) = find(objects, "Deployment", "queuebox-operator")["spec"]["template"]["spec"]["containers"]
        agents = next(it["value"] for it in container["env"] if it["name"] == "QUEUEBOX_OPERATOR_AGENT_IMAGE")
        assert {container["image"], agents} == {"registry.example.com/queuebox:9"}


def test_the_image_has_the_version_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    images = {
        container["image"]
        for folder in (CLUSTER_WIDE, SHOP)
        for it in build(folder)
        if it["kind"] == "Deployment"
        for container in it["spec"]["template"]["spec"]["containers"]
    }
    assert images == {f"queuebox/queuebox:{version}", "postgres:17"}


def test_everything_follows_into_another_namespace(tmp_path: Path) -> None:
    below = kustomization(tmp_path / "below", [CLUSTER_WIDE], namespace="blue")
    objects = build(kustomization(tmp_path / "mine", [below], COMPONENTS[CLUSTER_WIDE], namespace="blue"))
    assert "queuebox-system" not in str(objects)
    certificate = find(objects, "Certificate", "queuebox-operator-webhook")
    assert certificate["spec"]["dnsNames"][0] == "queuebox-operator-webhook.blue.svc"
    hook = find(objects, "ValidatingWebhookConfiguration", "queuebox-operator")
    assert hook["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == "blue/queuebox-operator-webhook"


def test_the_overlay_of_one_namespace_holds_nothing_of_the_cluster(tmp_path: Path) -> None:
    components = [name for name in COMPONENTS[ONE_NAMESPACE] if name != "user-roles"]
    objects = build(kustomization(tmp_path / "mine", [ONE_NAMESPACE], components, namespace="shop"))
    assert not CLUSTER_SCOPED & {it["kind"] for it in objects}
    assert {it["metadata"]["namespace"] for it in objects} == {"shop"}


def test_the_overlay_of_one_namespace_watches_its_own() -> None:
    (container,) = find(build(ONE_NAMESPACE), "Deployment", "queuebox-operator")["spec"]["template"]["spec"][
        "containers"
    ]
    watched = next(it for it in container["env"] if it["name"] == "QUEUEBOX_OPERATOR_NAMESPACE")
    assert watched["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.namespace"


def test_the_webhook_never_stands_in_the_way() -> None:
    (hook,) = read(MANIFESTS / "components" / "webhook" / "webhook.yaml")[0]["webhooks"]
    assert (hook["failurePolicy"], hook["timeoutSeconds"], hook["sideEffects"]) == ("Ignore", 5, "None")
    assert hook["rules"][0]["resources"] == [kind.plural for kind in KINDS]


def test_the_install_file_brings_every_definition() -> None:
    defined = {it["spec"]["names"]["kind"] for it in read(MANIFESTS / "install.yaml") if "CustomResource" in it["kind"]}
    assert defined == {kind.name for kind in KINDS}
