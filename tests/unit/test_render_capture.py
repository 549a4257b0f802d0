"""The capture owner: one agent beside the others, which alone reads the log of the database."""

from typing import Any

import pytest
import yaml

from queuebox_agent.settings.variables import settings_in
from queuebox_api.config.examine import examine
from queuebox_operator.facts import Ref
from queuebox_operator.record import Record
from queuebox_operator.render import objects
from queuebox_operator.render.configmap import configuration
from queuebox_operator.render.names import LONGEST_STATEFUL_SET_NAME, ref_of, selector_text
from services.box_world import DEFAULTS, NAMESPACE, World
from services.capture import STATE, box, capturing, recorded

OWNER = Ref("StatefulSet", NAMESPACE, "queuebox-orders-capture")


def rendered(record: Record) -> dict[str, Any]:
    return {it["kind"]: it for it in objects(box(), record, DEFAULTS)}


def agent(workload: Any) -> Any:
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return container


def environment(workload: Any) -> dict[str, str]:
    return {it["name"]: it["value"] for it in agent(workload)["env"]}


def selects(selector: dict[str, str], workload: Any) -> bool:
    labels: dict[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return selector.items() <= labels.items()


@pytest.mark.parametrize(
    "capture",
    [{}, {"mode": "postgres-logical"}, {"mode": "postgres-logical", "enabled": False}, {"enabled": True}],
)
def test_a_box_without_capture_has_no_capture_owner(capture: dict[str, Any]) -> None:
    made = rendered(recorded(**capture))
    assert "StatefulSet" not in made
    assert "QUEUEBOX_OUTBOX_CAPTURE_ENABLED" not in environment(made["Deployment"])
    assert selector_text(box(), recorded(**capture)) == selector_text(box(), None)


@pytest.mark.parametrize("mode", ["postgres-logical", "sqlserver-cdc"])
def test_each_mode_of_capture_has_an_owner(mode: str) -> None:
    assert "StatefulSet" in rendered(recorded(mode=mode, enabled=True, stateDirectory=STATE))


def test_there_is_one_owner_however_many_agents_there_are() -> None:
    made = rendered(capturing(replicas=7))
    assert (made["Deployment"]["spec"]["replicas"], made["StatefulSet"]["spec"]["replicas"]) == (7, 1)


@pytest.mark.parametrize("record", [capturing(replicas=0), capturing(routes=False)])
def test_the_owner_stops_with_the_other_agents_and_its_volume_stays(record: Record) -> None:
    spec = rendered(record)["StatefulSet"]["spec"]
    assert spec["replicas"] == 0
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete", "whenScaled": "Retain"}


@pytest.mark.parametrize(("kind", "captures"), [("Deployment", False), ("StatefulSet", True)])
def test_an_agent_learns_from_its_pod_whether_it_captures(kind: str, captures: bool) -> None:  # noqa: FBT001  a table of cases
    made = rendered(capturing())
    file = yaml.safe_load(configuration(box(), capturing())["data"]["queuebox.yml"])
    variables = settings_in(environment(made[kind]), file, set())
    config, wrong = examine(variables.over(file, []))
    assert (variables.problems, wrong) == ([], [])
    assert (config.outbox.capture.enabled, config.outbox.capture.mode) == (captures, "postgres-logical")


def test_the_volume_is_where_the_owner_keeps_its_state() -> None:
    owner = rendered(capturing())["StatefulSet"]
    (claim,) = owner["spec"]["volumeClaimTemplates"]
    (at,) = [it["mountPath"] for it in agent(owner)["volumeMounts"] if it["name"] == claim["metadata"]["name"]]
    assert at == STATE


def test_but_for_capture_the_owner_is_an_agent_as_any_other() -> None:
    made = rendered(capturing())
    templates = {kind: made[kind]["spec"]["template"] for kind in ("Deployment", "StatefulSet")}
    for template in templates.values():
        (container,) = template["spec"]["containers"]
        container["env"] = [it for it in container["env"] if "CAPTURE" not in it["name"]]
        container["volumeMounts"] = [it for it in container["volumeMounts"] if it["mountPath"] != STATE]
        template["metadata"]["labels"].pop("app.kubernetes.io/component", None)
    assert templates["Deployment"] == templates["StatefulSet"]


def test_service_and_budget_take_the_owner_in() -> None:
    made = rendered(capturing(replicas=1))
    assert selects(made["Service"]["spec"]["selector"], made["StatefulSet"])
    assert selects(made["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"], made["StatefulSet"])


def test_the_owner_is_not_among_the_pods_that_replicas_counts() -> None:
    text = "app.kubernetes.io/name=queuebox-agent,queuebox.dev/box=orders,app.kubernetes.io/component!=capture-owner"
    assert selector_text(box(), capturing()) == text


def test_the_stateful_set_selects_no_agent_of_the_deployment() -> None:
    made = rendered(capturing())
    selector = made["StatefulSet"]["spec"]["selector"]["matchLabels"]
    assert selects(selector, made["StatefulSet"])
    assert not selects(selector, made["Deployment"])


def test_a_pod_that_never_gets_ready_is_replaced_by_a_mended_one() -> None:
    assert rendered(capturing())["StatefulSet"]["spec"]["podManagementPolicy"] == "Parallel"


def test_a_refusal_of_the_owner_holds_up_the_record_and_nothing_else() -> None:
    assert [it["kind"] for it in objects(box(), capturing(), DEFAULTS)][-2:] == ["StatefulSet", "ConfigMap"]


@pytest.mark.parametrize("length", [1, 35, 36, 46])
def test_the_name_of_the_owner_leaves_room_for_the_labels_of_its_pods(length: int) -> None:
    name = ref_of("StatefulSet", box("a" * length)).name
    assert len(name) <= LONGEST_STATEFUL_SET_NAME
    assert (name == f"queuebox-{'a' * length}-capture") is (length <= 35)


def test_boxes_with_long_names_that_begin_alike_have_owners_apart() -> None:
    one, other = (ref_of("StatefulSet", box("a" * 45 + last)) for last in "xy")
    assert one != other


def test_a_long_name_is_cut_to_one_that_is_a_name() -> None:
    name = ref_of("StatefulSet", box("a" * 25 + "-" * 20 + "b")).name
    assert name.startswith(f"queuebox-{'a' * 25}-")
    assert "--" not in name


def test_an_owner_that_is_not_wanted_any_more_is_deleted() -> None:
    world = World.running()
    world.owned |= {OWNER}
    assert world.plan().delete == (OWNER,)
