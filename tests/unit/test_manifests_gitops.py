"""What Argo CD says about a resource, by the script that the project gives it."""

from typing import Any

import pytest
from lupa import LuaRuntime

from queuebox_api.resources import KINDS
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


def test_what_is_suspended_is_neither_well_nor_ill() -> None:
    assert health(conditions(Ready="False"), suspend=True)[0] == "Suspended"


def test_every_kind_has_the_script() -> None:
    (config,) = build(MANIFESTS / "gitops")
    assert config["data"] == {f"resource.customizations.health.queuebox.dev_{kind.name}": SCRIPT for kind in KINDS}
