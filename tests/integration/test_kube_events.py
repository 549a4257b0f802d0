"""Events as `kubectl describe` shows them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from queuebox_operator.facts import Ref
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.events import LONGEST_MESSAGE, Events
from queuebox_operator.plan import Happening
from services.cluster import Cluster
from services.kube import open_api

pytestmark = pytest.mark.kubernetes

UID = "6b1f2d5e-0000-4000-8000-000000000001"


@pytest.fixture
async def api(kubeconfig: Path) -> AsyncIterator[Api]:
    async with open_api(kubeconfig) as opened:
        yield opened


def accepted(namespace: str, message: str = "the route is accepted") -> Happening:
    return Happening(Ref("Route", namespace, "orders"), "Normal", "Accepted", message)


def told(cluster: Cluster, namespace: str) -> list[dict[str, Any]]:
    return cluster.list("Event", namespace)


async def test_an_event_names_its_object(api: Api, cluster: Cluster, namespace: str) -> None:
    await Events(api, "pod-1").tell(accepted(namespace), UID)
    (event,) = told(cluster, namespace)
    about = {
        "apiVersion": "queuebox.dev/v1alpha1",
        "kind": "Route",
        "name": "orders",
        "namespace": namespace,
        "uid": UID,
    }
    assert event["involvedObject"] == about
    assert (event["type"], event["reason"], event["message"]) == ("Normal", "Accepted", "the route is accepted")


async def test_the_same_again_is_counted(api: Api, cluster: Cluster, namespace: str) -> None:
    events = Events(api, "pod-1")
    for _ in range(3):
        await events.tell(accepted(namespace), UID)
    (event,) = told(cluster, namespace)
    assert event["count"] == 3


async def test_the_next_operator_counts_on(api: Api, cluster: Cluster, namespace: str) -> None:
    await Events(api, "pod-1").tell(accepted(namespace), UID)
    await Events(api, "pod-2").tell(accepted(namespace), UID)
    (event,) = told(cluster, namespace)
    assert event["count"] == 2


async def test_other_news_is_another_event(api: Api, cluster: Cluster, namespace: str) -> None:
    events = Events(api, "pod-1")
    await events.tell(accepted(namespace), UID)
    await events.tell(accepted(namespace, "the route is accepted again"), UID)
    assert len(told(cluster, namespace)) == 2


async def test_what_the_server_forgot_is_told_anew(api: Api, cluster: Cluster, namespace: str) -> None:
    events = Events(api, "pod-1")
    await events.tell(accepted(namespace), UID)
    cluster.delete("Event", told(cluster, namespace)[0]["metadata"]["name"], namespace)
    await events.tell(accepted(namespace), UID)
    (event,) = told(cluster, namespace)
    assert event["count"] == 1


async def test_a_long_message_is_cut(api: Api, cluster: Cluster, namespace: str) -> None:
    await Events(api, "pod-1").tell(accepted(namespace, "x" * 5000), UID)
    (event,) = told(cluster, namespace)
    assert len(event["message"]) == LONGEST_MESSAGE
