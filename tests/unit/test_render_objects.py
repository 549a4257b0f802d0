"""The objects of a box: what its pods may and may not do, and what follows from its spec."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from queuebox_operator.facts import Ref
from queuebox_operator.record import Entry, Record
from queuebox_operator.render.configmap import configuration
from services.box_world import BOX, DATABASE, NAMESPACE, World, destination

API = Ref("Destination", NAMESPACE, "api")


def objects(world: World) -> dict[str, Mapping[str, Any]]:
    return {it["kind"]: it for it in world.plan().apply}


def pod(world: World) -> Any:
    return objects(world)["Deployment"]["spec"]["template"]["spec"]


def agent(world: World) -> Any:
    (container,) = pod(world)["containers"]
    return container


def with_box(**spec: object) -> World:
    world = World.running()
    world.edit(BOX, **spec)
    return world


def test_every_object_belongs_to_the_box() -> None:
    for it in World.running().plan().apply:
        (owner,) = it["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("QueueBox", "orders", True)
        assert it["metadata"]["labels"]["queuebox.dev/box"] == "orders"
        assert re.fullmatch("queuebox-orders(-[0-9a-f]{16})?", it["metadata"]["name"])
        assert it["metadata"]["namespace"] == NAMESPACE


def test_the_configuration_stands_before_the_workload_and_the_record_behind_everything() -> None:
    made = [(it["kind"], it["data"].keys() if "data" in it else None) for it in World.running().plan().apply]
    kinds = [kind for kind, _ in made]
    assert kinds.index("ConfigMap") < kinds.index("Deployment")
    assert made[kinds.index("ConfigMap")] == ("ConfigMap", {"queuebox.yml"})
    assert made[-1] == ("ConfigMap", {"entries.json"})


def test_a_configuration_never_changes() -> None:
    world = World.running()
    made = next(it for it in world.plan().apply if it["kind"] == "ConfigMap")
    assert made["immutable"]
    assert made["metadata"]["name"] == f"queuebox-orders-{world.template_hash}"


def test_an_agent_mounts_the_configuration_of_its_hash() -> None:
    (volume,) = [it for it in pod(World.running())["volumes"] if it["name"] == "queuebox-config"]
    made = objects(World.running())["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert volume["configMap"]["name"] == f"queuebox-orders-{made['queuebox.dev/config-hash']}"


def test_an_agent_satisfies_the_restricted_pod_security_standard() -> None:
    world = World.running()
    assert pod(world)["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert agent(world)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_an_agent_has_no_token() -> None:
    world = World.running()
    assert pod(world)["automountServiceAccountToken"] is False
    assert objects(world)["ServiceAccount"]["automountServiceAccountToken"] is False


def test_no_service_puts_variables_into_an_agent() -> None:
    assert pod(World.running())["enableServiceLinks"] is False


def test_new_agents_are_ready_before_old_ones_stop() -> None:
    strategy = objects(World.running())["Deployment"]["spec"]["strategy"]
    assert strategy["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}


@pytest.mark.parametrize(("shutdown", "grace"), [(None, 70), (12_500, 35), (1, 11)])
def test_the_grace_period_follows_the_shutdown_budget(shutdown: int | None, grace: int) -> None:
    world = with_box(outbox={"shutdownTimeoutMs": shutdown} if shutdown else {})
    assert pod(world)["terminationGracePeriodSeconds"] == grace


def test_only_the_keys_that_are_read_are_mounted() -> None:
    world = World.running()
    world.secret("api", "1", "client", "secret", "unused")
    oauth = {"clientId": "me", "clientSecretSecretRef": {"name": "api", "key": "secret"}, "tokenUrl": "https://t"}
    world.edit(API, http={"baseUrl": "https://api", "auth": {"oauth2": oauth}})
    (volume,) = [it["projected"] for it in pod(world)["volumes"] if "projected" in it]
    assert volume["defaultMode"] == 0o440
    assert [(it["secret"]["name"], it["secret"]["items"]) for it in volume["sources"]] == [
        ("api", [{"key": "secret", "path": "api/secret"}]),
        ("db", [{"key": "password", "path": "db/password"}]),
    ]


def test_the_probes_ask_the_management_port() -> None:
    container = agent(World.running())
    asked = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: (it["path"], it["port"]) for name, it in asked.items()} == {
        "startup": ("/health/live", "management"),
        "liveness": ("/health/live", "management"),
        "readiness": ("/health/ready", "management"),
    }


def test_a_start_may_last_as_long_as_the_database_and_a_long_migration_take() -> None:
    probe = agent(with_box(database=DATABASE | {"startupTimeoutMs": 90_500}))["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 91 + 1800


def test_a_service_offers_both_ports() -> None:
    ports = objects(with_box(server={"httpPort": 81, "managementPort": 82}))["Service"]["spec"]["ports"]
    assert [(it["name"], it["port"], it["targetPort"]) for it in ports] == [
        ("http", 81, "http"),
        ("management", 82, "management"),
    ]


@pytest.mark.parametrize(("replicas", "budget"), [(0, False), (1, False), (2, True)])
def test_a_disruption_budget_needs_two_agents(replicas: int, budget: bool) -> None:  # noqa: FBT001  a table of cases
    assert ("PodDisruptionBudget" in objects(with_box(agent={"replicas": replicas}))) is budget


def test_agents_that_are_not_ready_hold_up_no_drain() -> None:
    budget = objects(with_box(agent={"replicas": 2}))["PodDisruptionBudget"]["spec"]
    assert (budget["maxUnavailable"], budget["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")


def test_what_is_not_wanted_any_more_is_deleted() -> None:
    world = with_box(agent={"replicas": 2})
    world.settle()
    world.edit(BOX, agent={"replicas": 2, "serviceAccountName": "mine"})
    assert world.plan().delete == (Ref("ServiceAccount", NAMESPACE, "queuebox-orders"),)


def test_labels_of_a_box_cannot_replace_those_of_the_operator() -> None:
    world = with_box(agent={"labels": {"team": "shop"}})
    labels = objects(world)["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels["team"] == "shop"
    assert labels["queuebox.dev/box"] == "orders"


def test_the_file_says_what_it_is() -> None:
    assert World.running().file().startswith("# Written by the operator")


@pytest.mark.parametrize("text", ["'" * 1000, "\n" * 1000, "it's\n" * 500, "a  b " * 500])
def test_a_text_is_not_longer_in_the_file_than_where_it_is_measured(text: str) -> None:
    world = World.running()
    content = {"transform": {"expression": text}}
    record = Record(Entry(1, "", content), {})
    file = configuration(world.resources[BOX], record)["data"]["queuebox.yml"]
    assert yaml.safe_load(file)["transform"] == content["transform"]
    assert len(file) < len(json.dumps(content)) + 200


def test_a_header_in_any_script_reaches_the_agent() -> None:
    world = World.running()
    world.put("Destination", "api", destination(headers={"x-note": "grüße: 'ñ' \"#\" 日本"}))
    world.reconcile()
    assert world.config()["destinations"]["api"]["headers"] == {"x-note": "grüße: 'ñ' \"#\" 日本"}
