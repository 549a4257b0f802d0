"""The cluster that the tests of the operator run on."""

import pytest

from services.apiserver import ApiServer
from services.cluster import Cluster, Refused

pytestmark = pytest.mark.kubernetes

SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}


def test_what_is_applied_is_there_until_it_is_deleted(cluster: Cluster, namespace: str) -> None:
    cluster.apply(SETTINGS, namespace=namespace)
    found = cluster.get("ConfigMap", "settings", namespace)
    assert found is not None
    assert found["data"] == {"a": "1"}
    cluster.delete("ConfigMap", "settings", namespace)
    assert cluster.get("ConfigMap", "settings", namespace) is None


def test_a_refusal_says_what_the_server_says(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(Refused, match="field not declared in schema"):
        cluster.apply(SETTINGS | {"nonsense": 1}, namespace=namespace)


def test_kubectl_reads_the_same_cluster(cluster: Cluster, namespace: str) -> None:
    assert namespace in cluster.kubectl("get", "namespaces", "-o", "name")


def test_what_etcd_holds_outlives_the_api_server(own_api_server: ApiServer) -> None:
    cluster = own_api_server.cluster
    cluster.apply(SETTINGS, namespace="default")
    own_api_server.kill()
    own_api_server.start()
    assert cluster.get("ConfigMap", "settings", "default")
