"""What Argo CD says about a resource, by the script that the project gives it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from lupa import LuaRuntime

from queuebox_api.resources import KINDS
from services.box_world import BOX, World
from services.manifests import MANIFESTS, build

SCRIPT = (MANIFESTS / "gitops" / "health.lua").read_text()


def health(status: dict[str, Any] | None, **spec: object) -> tuple[str, str]:
    lua = LuaRuntime()
    judge = lua.eval(f"function(obj)\n{SCRIPT}\nend")
    resource = {"metadata": {"generation": 2}, "spec": spec} | ({"status": status} if status is not None else {})
    said = judge(lua.table_from(resource, recursive=True))
    return said.status, said.message


def conditions(generation: int = 2, **statuses: str) -> dict[str, Any]:
    return {
        "observedGeneration": generation,
        "conditions": [
            {"type": name, "status": status, "reason": f"Of{name}", "message": "why"}
            for name, status in statuses.items()
        ],
    }


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, "Progressing"),
        ({"observedGeneration": -1}, "Progressing"),
        (conditions(generation=1, Ready="True"), "Progressing"),
        (conditions(Accepted="True"), "Progressing"),
        (conditions(Ready="Unknown"), "Progressing"),
        (conditions(Ready="True"), "Healthy"),
        (conditions(Ready="False", Reconciling="True"), "Progressing"),
        (conditions(Ready="False"), "Degraded"),
        (conditions(Ready="False", Stalled="True"), "Degraded"),
        (conditions(Ready="True", Stalled="True"), "Degraded"),
    ],
)
def test_health_follows_the_conditions(status: dict[str, Any] | None, expected: str) -> None:
    assert health(status)[0] == expected


def test_the_message_is_that_of_the_condition() -> None:
    assert health(conditions(Ready="False", Stalled="True")) == ("Degraded", "OfStalled: why")


@pytest.mark.parametrize("status", [None, conditions(generation=1, Ready="False"), conditions(Ready="True")])
def test_what_is_suspended_is_neither_well_nor_ill(status: dict[str, Any] | None) -> None:
    assert health(status, suspend=True)[0] == "Suspended"


def test_a_suspended_box_whose_agents_are_down_does_not_hide_it() -> None:
    assert health(conditions(Ready="False", Reconciling="True"), suspend=True) == ("Progressing", "OfReconciling: why")


def test_a_rollout_that_is_past_its_deadline_is_degraded_as_its_deployment_is() -> None:
    status = conditions(Ready="False", Reconciling="True")
    status["conditions"][0]["reason"] = "RolloutFailed"
    assert health(status) == ("Degraded", "RolloutFailed: why")


def boxes() -> dict[str, World]:
    """What people leave alone, by what they did last."""
    zero, suspended, late = World.running(), World.running(), World.running()
    zero.edit(BOX, agent={"replicas": 0})
    zero.settle()
    suspended.edit(BOX, suspend=True)
    suspended.settle()
    assert late.workload is not None
    late.workload = replace(late.workload, updated=0, problem="ReplicaSet has timed out progressing.")
    late.reconcile()
    return {"scaled to zero": zero, "suspended": suspended, "late": late}


@pytest.mark.parametrize(
    ("what", "expected"), [("scaled to zero", "Healthy"), ("suspended", "Suspended"), ("late", "Degraded")]
)
def test_the_health_of_a_box_as_the_operator_tells_of_it(what: str, expected: str) -> None:
    box = boxes()[what].resources[BOX]
    status = json.loads(json.dumps(box.status)) | {"observedGeneration": 2}
    assert health(status, **box.spec)[0] == expected


def test_every_kind_has_the_script() -> None:
    (config,) = build(MANIFESTS / "gitops")
    assert config["data"] == {f"resource.customizations.health.queuebox.dev_{kind.name}": SCRIPT for kind in KINDS}
