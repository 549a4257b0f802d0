"""A sample is what the schema and the rules accept, and its parts fit together."""

from pathlib import Path

import pytest

from queuebox_api.resources import KINDS, check, secret_refs
from services.manifests import MANIFESTS, SHOP, Object, build, find, read, sample_files

OURS = [
    pytest.param(it, id=f"{path.relative_to(MANIFESTS)}")
    for path in sample_files()
    for it in read(path)
    if it["apiVersion"].startswith("queuebox.dev/")
]


@pytest.mark.parametrize("resource", OURS)
def test_a_sample_is_valid(resource: Object) -> None:
    assert resource["apiVersion"] == "queuebox.dev/v1alpha1"
    assert not check(resource["kind"], resource["spec"])


def test_there_is_a_sample_of_every_kind() -> None:
    assert {parameter.values[0]["kind"] for parameter in OURS} == {kind.name for kind in KINDS}  # type: ignore[index]  # a manifest


def test_what_the_sample_names_is_there() -> None:
    shop = build(SHOP)
    route, destination = find(shop, "Route", "orders"), find(shop, "Destination", "orders")
    assert find(shop, "Destination", route["spec"]["destinationRef"]["name"]) == destination
    for resource in (route, destination):
        assert find(shop, "QueueBox", resource["spec"]["queueBoxRef"]["name"])
    host = destination["spec"]["http"]["baseUrl"].removeprefix("http://").split(":")[0]
    assert find(shop, "Service", host)


def test_the_secrets_of_the_sample_have_the_keys_that_are_used() -> None:
    shop = build(SHOP)
    for _, name, key in secret_refs("QueueBox", find(shop, "QueueBox", "shop")["spec"]):
        assert key in find(shop, "Secret", name)["stringData"]


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: path.stem)
def test_a_sample_says_what_it_is(path: Path) -> None:
    assert path.name == "namespace.yaml" or path.read_text().startswith("# ") or path.name == "destination.yaml"
