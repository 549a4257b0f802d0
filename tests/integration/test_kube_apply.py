"""Writes to a real API server."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from queuebox_operator.errors import ApiError, Conflict, Invalid, NotFound, NotLeader, Unavailable
from queuebox_operator.facts import Ref
from queuebox_operator.kube.api import Api
from services.apiserver import ApiServer
from services.cluster import Cluster
from services.kube import open_api

pytestmark = pytest.mark.kubernetes


def settings(namespace: str, **data: str) -> dict[str, Any]:
    meta = {"name": "settings", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def ref(namespace: str, kind: str = "ConfigMap", name: str = "settings") -> Ref:
    return Ref(kind, namespace, name)


@pytest.fixture
async def api(kubeconfig: Path) -> AsyncIterator[Api]:
    async with open_api(kubeconfig) as opened:
        yield opened


async def test_what_is_applied_again_unchanged_keeps_its_version(api: Api, namespace: str) -> None:
    first = await api.apply(settings(namespace, a="1"))
    again = await api.apply(settings(namespace, a="1"))
    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_what_is_left_out_of_the_next_apply_goes_away(api: Api, namespace: str) -> None:
    await api.apply(settings(namespace, a="1", b="2"))
    assert (await api.apply(settings(namespace, a="1")))["data"] == {"a": "1"}


async def test_an_apply_takes_back_what_somebody_edited(api: Api, cluster: Cluster, namespace: str) -> None:
    await api.apply(settings(namespace, a="1"))
    cluster.patch("ConfigMap", "settings", {"data": {"a": "edited"}}, namespace)
    assert (await api.apply(settings(namespace, a="1")))["data"] == {"a": "1"}


async def test_an_apply_leaves_what_others_added(api: Api, cluster: Cluster, namespace: str) -> None:
    await api.apply(settings(namespace, a="1"))
    cluster.patch("ConfigMap", "settings", {"data": {"other": "kept"}}, namespace)
    assert (await api.apply(settings(namespace, a="1")))["data"] == {"a": "1", "other": "kept"}


async def test_without_force_a_field_of_somebody_else_is_a_conflict(api: Api, cluster: Cluster, namespace: str) -> None:
    cluster.apply(settings(namespace, a="theirs"))
    with pytest.raises(Conflict):
        await api.apply(settings(namespace, a="ours"), force=False)


async def test_a_field_that_the_schema_does_not_have_is_refused(api: Api, namespace: str) -> None:
    with pytest.raises(ApiError, match="not declared in schema"):
        await api.apply(settings(namespace) | {"nonsense": True})


async def test_an_object_that_breaks_a_rule_is_invalid(api: Api, namespace: str) -> None:
    with pytest.raises(Invalid):
        await api.apply(settings(namespace, **{"no/key": "1"}))


async def test_the_status_of_an_object_that_is_gone_makes_no_new_one(
    api: Api, cluster: Cluster, namespace: str
) -> None:
    with pytest.raises(NotFound):
        await api.apply_status(ref(namespace, "Deployment", "gone"), {"replicas": 1})
    assert cluster.get("Deployment", "gone", namespace) is None


async def test_an_update_of_an_old_version_is_a_conflict(api: Api, namespace: str) -> None:
    first = await api.apply(settings(namespace, a="1"))
    await api.apply(settings(namespace, a="2"))
    with pytest.raises(Conflict):
        await api.replace(ref(namespace), first)


async def test_an_object_of_another_uid_is_not_deleted(api: Api, cluster: Cluster, namespace: str) -> None:
    await api.apply(settings(namespace))
    with pytest.raises(Conflict):
        await api.delete(ref(namespace), "00000000-0000-0000-0000-000000000000")
    assert cluster.get("ConfigMap", "settings", namespace)


async def test_to_delete_what_is_gone_is_done_already(api: Api, namespace: str) -> None:
    await api.delete(ref(namespace))


async def test_objects_are_listed_by_their_labels(api: Api, cluster: Cluster, namespace: str) -> None:
    cluster.apply(settings(namespace, a="1"))
    cluster.patch("ConfigMap", "settings", {"metadata": {"labels": {"of": "mine"}}}, namespace)
    assert [it["metadata"]["name"] for it in await api.list("ConfigMap", namespace, "of=mine")] == ["settings"]
    assert await api.list("ConfigMap", namespace, "of=nobody") == []


async def test_who_does_not_lead_sends_nothing(kubeconfig: Path, cluster: Cluster, namespace: str) -> None:
    async with open_api(kubeconfig, lambda: False) as deposed:
        with pytest.raises(NotLeader):
            await deposed.apply(settings(namespace))
    assert cluster.get("ConfigMap", "settings", namespace) is None


async def test_a_lease_that_ends_on_the_way_holds_the_body_back(
    kubeconfig: Path, cluster: Cluster, namespace: str
) -> None:
    word = iter([True])
    async with open_api(kubeconfig, lambda: next(word, False)) as deposed:
        with pytest.raises(NotLeader):
            await deposed.apply(settings(namespace))
    assert cluster.get("ConfigMap", "settings", namespace) is None


async def test_a_server_that_is_away_is_unavailable(own_api_server: ApiServer) -> None:
    own_api_server.kill()
    async with open_api(own_api_server.kubeconfig) as api:
        with pytest.raises(Unavailable):
            await api.get(ref("default"))


async def test_a_server_that_does_not_answer_is_unavailable_in_time(own_api_server: ApiServer) -> None:
    async with open_api(own_api_server.kubeconfig) as api:
        own_api_server.freeze()
        try:
            with pytest.raises(Unavailable):
                await api.get(ref("default"), seconds=0.5)
        finally:
            own_api_server.thaw()
