"""The agents run a configuration when the capture owner runs it too."""

from dataclasses import replace
from typing import Any

import pytest

from queuebox_api.resources import ConditionType
from queuebox_operator.facts import Workload
from queuebox_operator.policy.box import BoxVerdict
from queuebox_operator.policy.choice import Asked, Choice
from queuebox_operator.policy.verdict import Verdict
from queuebox_operator.record import Record
from queuebox_operator.status.box import facts
from queuebox_operator.status.situation import Situation
from services.capture import box, capturing, recorded

NONE_READY = {"ready": 0, "available": 0}


def agents(record: Record, count: int = 1, **changes: Any) -> Workload:
    return replace(Workload(1, 1, count, count, count, count, record.hash()), **changes)


def situation(record: Record, workload: Workload | None, owner: Workload | None) -> Situation:
    asked = Asked(box().ref, BoxVerdict(Verdict(record.box), record.agent), {}, {}, record)
    return Situation(asked, Choice(record, {}, {}, {}), record, workload, capture_owner=owner)


def told(it: Situation, condition: ConditionType) -> tuple[str, str]:
    found = facts(box(), it)[condition]
    return found.status, found.reason


def test_a_box_is_programmed_when_agents_and_owner_run_its_configuration() -> None:
    record = capturing()
    it = situation(record, agents(record), agents(record))
    assert told(it, ConditionType.PROGRAMMED) == ("True", "Programmed")
    assert told(it, ConditionType.READY) == ("True", "Ready")


@pytest.mark.parametrize("changes", [{"config_hash": "older"}, {"generation": 2}, {"updated": 0}, NONE_READY])
def test_an_owner_that_is_not_there_yet_is_waited_for(changes: dict[str, Any]) -> None:
    record = capturing()
    it = situation(record, agents(record), agents(record, **changes))
    assert told(it, ConditionType.PROGRAMMED) == ("False", "RollingOut")
    assert "capture owner" in facts(box(), it)[ConditionType.PROGRAMMED].message


def test_without_a_stateful_set_the_owner_is_waited_for() -> None:
    record = capturing()
    assert told(situation(record, agents(record), None), ConditionType.PROGRAMMED) == ("False", "RollingOut")


def test_agents_that_are_not_there_yet_are_waited_for_though_the_owner_is() -> None:
    record = capturing()
    it = situation(record, agents(record, config_hash="older"), agents(record))
    assert told(it, ConditionType.PROGRAMMED) == ("False", "RollingOut")
    assert "capture owner" not in facts(box(), it)[ConditionType.PROGRAMMED].message


@pytest.mark.parametrize(("lost", "ready"), [("owner", "True"), ("agents", "True"), ("both", "False")])
def test_a_box_is_ready_as_long_as_anybody_delivers(lost: str, ready: str) -> None:
    record = capturing()
    workload = agents(record, **(NONE_READY if lost in {"agents", "both"} else {}))
    owner = agents(record, **(NONE_READY if lost in {"owner", "both"} else {}))
    it = situation(record, workload, owner)
    ran = {"type": "Programmed", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    before = replace(box(), status={"observedGeneration": 1, "configHash": record.hash(), "conditions": [ran]})
    assert facts(before, it)[ConditionType.READY].status == ready


def test_what_keeps_the_owner_from_starting_is_told() -> None:
    record = capturing()
    it = situation(record, agents(record), agents(record, problem="pods are forbidden", **NONE_READY))
    found = facts(box(), it)[ConditionType.PROGRAMMED]
    assert (found.reason, found.message) == ("RolloutFailed", "pods are forbidden")


def test_an_owner_that_is_about_to_be_deleted_is_not_waited_for() -> None:
    record = recorded()
    it = situation(record, agents(record), agents(record, config_hash="older"))
    assert told(it, ConditionType.PROGRAMMED) == ("True", "Programmed")


def test_a_box_that_is_scaled_to_zero_is_programmed_when_the_owner_is_gone_too() -> None:
    record = capturing(replicas=0)
    assert told(situation(record, agents(record, 0), agents(record)), ConditionType.PROGRAMMED)[0] == "False"
    assert told(situation(record, agents(record, 0), agents(record, 0)), ConditionType.PROGRAMMED)[0] == "True"
