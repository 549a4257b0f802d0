"""docs/reference/operator-metrics.md and a live scrape say the same."""

import re

from queuebox_operator.telemetry.metrics import CAUSES, Metrics, Standing
from services.docs import DOCS

PAGE = (DOCS / "reference" / "operator-metrics.md").read_text()
ROW = re.compile(r"^\| `(?P<name>queuebox\w*)` \| (?P<type>[a-z]+) \|(?P<labels>[^|]*)\|", re.MULTILINE)
SAMPLE = re.compile(r"^(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? \S+$", re.MULTILINE)
TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)

STANDING = Standing("Route", "Ready", "True")


def metrics() -> Metrics:
    """After every labelled metric was touched once."""
    made = Metrics("1.2.3", lambda: [STANDING, STANDING, STANDING._replace(status="False")])
    made.wrote("ConfigMap", "apply")
    made.asked("answered")
    made.reviewed("Route", "denied")
    return made


def scraped() -> set[tuple[str, str, frozenset[str]]]:
    text = metrics().exposition().decode()
    types = dict(TYPE.findall(text))
    rows = set()
    for sample in SAMPLE.finditer(text):
        name = sample["name"] if sample["name"] in types else re.sub("_(count|sum|bucket)$", "", sample["name"])
        rows.add((name, types[name], frozenset(re.findall(r'(\w+)="', sample["labels"] or "")) - {"le"}))
    return rows


def test_the_page_and_the_scrape_have_the_same_metrics() -> None:
    rows = {(row["name"], row["type"], frozenset(re.findall(r"`(\w+)`", row["labels"]))) for row in ROW.finditer(PAGE)}
    assert rows == scraped()


def test_every_label_value_is_on_the_page() -> None:
    assert all(f"`{value}`" in PAGE for value in CAUSES)


def test_objects_are_counted_by_condition() -> None:
    lines = metrics().exposition().decode().splitlines()
    counted = [line for line in lines if line.startswith("queuebox_operator_objects{")]
    assert counted == [
        'queuebox_operator_objects{condition="Ready",kind="Route",status="False"} 1.0',
        'queuebox_operator_objects{condition="Ready",kind="Route",status="True"} 2.0',
    ]


def test_every_end_of_a_reconcile_is_in_the_scrape_from_the_start() -> None:
    text = Metrics("1.2.3").exposition().decode()
    assert all(f'queuebox_operator_reconciles_total{{result="{result}"}} 0.0' in text for result in ("done", "failed"))


def test_a_reconcile_is_counted_and_timed() -> None:
    made = Metrics("1.2.3")
    made.reconciled(0.2)
    text = made.exposition().decode()
    assert 'queuebox_operator_reconciles_total{result="done"} 1.0' in text
    assert "queuebox_operator_reconcile_duration_seconds_sum 0.2" in text


def test_a_failed_reconcile_is_counted_by_its_cause() -> None:
    made = Metrics("1.2.3")
    made.reconciled(0.2, "refused")
    text = made.exposition().decode()
    assert 'queuebox_operator_reconciles_total{result="failed"} 1.0' in text
    assert 'queuebox_operator_reconcile_errors_total{cause="refused"} 1.0' in text
