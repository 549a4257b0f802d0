"""The CRDs on a real API server: what it takes, fills in, shows, and lets nobody change."""

from typing import Any

import pytest

from queuebox_api.resources import KINDS, LONGEST_BOX_NAME
from services.cluster import Cluster, Refused
from services.resources import API_VERSION, changed, path_of, sample, samples

pytestmark = pytest.mark.kubernetes

BOX = {"database": {"secretRef": {"name": "shop-app"}}}
IDENTITY = {
    "database.type": "sqlserver",
    "database.outboxTableName": "another",
    "database.inboxTableName": "another",
}


def resource(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize("one", samples(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_a_valid_resource_is_taken_as_it_is(cluster: Cluster, namespace: str, one: dict[str, Any]) -> None:
    held = cluster.apply(one, namespace=namespace)[0]["spec"]
    assert at_least(held, one["spec"])


def at_least(held: Any, wanted: Any) -> bool:
    """Whether all of `wanted` is in `held`, which may have defaults besides."""
    if isinstance(wanted, dict):
        return all(key in held and at_least(held[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(held) == len(wanted) and all(map(at_least, held, wanted))
    return bool(held == wanted)


def test_a_box_needs_one_line(cluster: Cluster, namespace: str) -> None:
    held = cluster.apply(resource("QueueBox", "shop", BOX), namespace=namespace)[0]
    assert held["spec"]["agent"] == {"mode": "Deployment", "replicas": 1, "logFormat": "json", "logLevel": "INFO"}
    assert held["spec"]["database"]["poolSize"] == 10
    assert held["spec"]["suspend"] is False


def test_a_section_that_is_given_comes_back_with_its_defaults(cluster: Cluster, namespace: str) -> None:
    held = cluster.apply(resource("QueueBox", "shop", BOX | {"outbox": {"batchSize": 7}}), namespace=namespace)[0]
    assert held["spec"]["outbox"]["batchSize"] == 7
    assert held["spec"]["outbox"]["concurrency"] == 8
    assert "inbox" not in held["spec"]


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_a_new_resource_waits_for_the_operator(cluster: Cluster, namespace: str, kind: str) -> None:
    one = next(one for one in samples() if one["kind"] == kind)
    status = cluster.apply(one, namespace=namespace)[0]["status"]
    assert status["observedGeneration"] == -1
    assert [(c["type"], c["status"], c["reason"]) for c in status["conditions"]] == [("Ready", "Unknown", "Pending")]


@pytest.mark.parametrize("path", IDENTITY)
def test_what_a_box_is_known_by_cannot_be_changed(cluster: Cluster, namespace: str, path: str) -> None:
    cluster.apply(sample("QueueBox", "whole"), namespace=namespace)
    spec = changed(sample("QueueBox", "whole")["spec"], path_of(path), IDENTITY[path])
    with pytest.raises(Refused, match=f"spec.{path}: .*: cannot be changed: make another QueueBox"):
        cluster.apply(resource("QueueBox", "whole", spec), namespace=namespace)


def test_the_name_of_a_box_leaves_room_for_the_names_of_its_agents(cluster: Cluster, namespace: str) -> None:
    cluster.apply(resource("QueueBox", "a" * LONGEST_BOX_NAME, BOX), namespace=namespace)
    with pytest.raises(Refused, match="the name of a QueueBox has at most 46 characters"):
        cluster.apply(resource("QueueBox", "a" * (LONGEST_BOX_NAME + 1), BOX), namespace=namespace)


@pytest.mark.parametrize("name", ["operator", "operator-webhook"])
def test_no_box_takes_the_names_of_the_operator(cluster: Cluster, namespace: str, name: str) -> None:
    with pytest.raises(Refused, match="the operator has objects of that name"):
        cluster.apply(resource("QueueBox", name, BOX), namespace=namespace)


def test_a_box_can_be_scaled(cluster: Cluster, namespace: str) -> None:
    cluster.apply(resource("QueueBox", "shop", BOX), namespace=namespace)
    cluster.kubectl("scale", "qbox/shop", "--replicas=3", f"--namespace={namespace}")
    held = cluster.get("QueueBox", "shop", namespace)
    assert held
    assert held["spec"]["agent"]["replicas"] == 3


def test_a_list_shows_what_matters(cluster: Cluster, namespace: str) -> None:
    cluster.apply(sample("Route", "whole"), namespace=namespace)
    head, row = cluster.kubectl("get", "qroute", f"--namespace={namespace}").splitlines()
    assert head.split() == ["NAME", "QUEUEBOX", "TOPICS", "DESTINATION", "READY", "REASON", "AGE"]
    assert row.split()[:6] == ["whole", "whole", "order.*", "http", "Unknown", "Pending"]


def test_the_category_lists_all_kinds(cluster: Cluster, namespace: str) -> None:
    cluster.apply(
        *(sample(kind.name, "whole" if kind.name in {"QueueBox", "Route"} else "http") for kind in KINDS),
        namespace=namespace,
    )
    listed = cluster.kubectl("get", "queuebox", f"--namespace={namespace}", "--output=name").split()
    assert sorted(listed) == [
        "destination.queuebox.dev/http",
        "queuebox.queuebox.dev/whole",
        "route.queuebox.dev/whole",
        "source.queuebox.dev/http",
    ]


def test_the_entries_of_a_box_can_be_selected(cluster: Cluster, namespace: str) -> None:
    cluster.apply(sample("Route", "whole"), namespace=namespace)
    of = [f"--field-selector=spec.queueBoxRef.name={box}" for box in ("whole", "another")]
    listed = [
        cluster.kubectl("get", "routes.queuebox.dev", f"--namespace={namespace}", "--output=name", one) for one in of
    ]
    assert [bool(names) for names in listed] == [True, False]


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("qbox.spec", "One database, and the agents that move messages from and to it."),
        (
            "qbox.spec.database.secretRef",
            "A Secret that an operator for PostgreSQL made: all that is needed to connect.",
        ),
        ("qbox.status.pending", "Outbox rows that wait, as the agents reported them last."),
        ("qdst.spec.http.auth.oauth2.clientSecretSecretRef", "The client secret. Read from a Secret."),
        ("qsrc.spec.topic", "Default: `{{ eventType }}` (http)"),
        ("qroute.spec.priority", "Higher is tested first, equal ones by name."),
    ],
)
def test_a_field_is_explained(cluster: Cluster, field: str, says: str) -> None:
    assert says in " ".join(cluster.kubectl("explain", field).split())
