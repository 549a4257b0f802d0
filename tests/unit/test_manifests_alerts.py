"""Alerts speak of metrics that exist, and each has its answer in the documentation."""

import re
from typing import Any

import pytest

from queuebox_agent.telemetry.metrics import Metrics as AgentMetrics
from queuebox_operator.telemetry.metrics import Metrics as OperatorMetrics
from services.manifests import MANIFESTS, ROOT, read

NOT_YET = {
    "queuebox_inbox_oldest_pending_age_seconds",
    "queuebox_inbox_rejections_total",
    "queuebox_inbox_relay_errors_total",
}
"""Of the inbox, which no agent runs yet."""
FROM_OTHERS = {"kube_pod_status_ready"}
PAGE = ROOT / "docs" / "how-to" / "answer-alerts.md"


def alerts() -> list[dict[str, Any]]:
    (rule,) = read(MANIFESTS / "components" / "monitoring" / "alerts.yaml")
    return [alert for group in rule["spec"]["groups"] for alert in group["rules"]]


def exposed() -> set[str]:
    scrapes = AgentMetrics("1").exposition() + OperatorMetrics("1").exposition()
    return set(re.findall(r"^# TYPE (\w+) ", scrapes.decode(), re.MULTILINE))


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_speaks_of_metrics_that_exist(alert: dict[str, Any]) -> None:
    names = set(re.findall(r"\b(?:queuebox|kube)_\w+", alert["expr"]))
    assert names
    assert names <= exposed() | NOT_YET | FROM_OTHERS


def test_what_exists_is_not_listed_as_missing() -> None:
    assert not NOT_YET & exposed()


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_says_how_bad_it_is_and_what_to_read(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in {"critical", "warning"}
    page, _, anchor = alert["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^## (\w+)$", (ROOT / page).read_text(), re.MULTILINE)
    assert anchor in {heading.lower() for heading in headings}


def test_every_answer_has_its_alert() -> None:
    answered = {alert["annotations"]["runbook"].partition("#")[2] for alert in alerts()}
    assert {heading.lower() for heading in re.findall(r"^## (\w+)$", PAGE.read_text(), re.MULTILINE)} == answered


def test_labels_of_a_summary_are_those_that_the_expression_keeps() -> None:
    for alert in alerts():
        kept = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", alert["expr"]))))
        assert set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"])) <= kept
