"""docs/reference/metrics.md and a live scrape say the same (spec page 29)."""

import re
from pathlib import Path

from queuebox_agent.telemetry.metrics import Metrics

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(?P<name>queuebox\w*)` \| (?P<type>counter|gauge|summary) \|(?P<labels>[^|]*)\|", re.MULTILINE)
SAMPLE = re.compile(r"^(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? \S+$", re.MULTILINE)
TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)

Row = tuple[str, str, frozenset[str]]
"""Name, type and labels of a metric."""


def scrape() -> str:
    """After every labelled metric was touched once."""
    metrics = Metrics("1.2.3")
    metrics.claims_lost("outbox").inc()
    metrics.publish_duration("http").observe(0.1)
    metrics.destination_messages("orders-api", "success").inc()
    metrics.queue_depth("orders-api").set(1)
    metrics.http_responses("2xx").inc()
    metrics.watch_pool("queuebox", dict)
    return metrics.exposition().decode()


def scraped() -> set[Row]:
    text = scrape()
    types = dict(TYPE.findall(text))
    rows = set()
    for sample in SAMPLE.finditer(text):
        name = sample["name"]
        if name not in types:
            name = re.sub("_(count|sum)$", "", name)
        labels = set(re.findall(r'(\w+)="', sample["labels"] or "")) - {"quantile"}
        rows.add((name, types[name], frozenset(labels)))
    return rows


def documented() -> set[Row]:
    rows = ROW.finditer(PAGE.read_text())
    return {(row["name"], row["type"], frozenset(re.findall(r"`(\w+)`", row["labels"]))) for row in rows}


def test_every_documented_metric_is_in_the_scrape() -> None:
    assert documented() - scraped() == set()


def test_every_metric_of_the_scrape_is_documented() -> None:
    assert scraped() - documented() == set()


def test_the_page_has_rows_to_compare() -> None:
    assert len(documented()) == 25


def test_every_summary_with_quantiles_is_documented_with_its_largest_value() -> None:
    with_quantiles = set(re.findall(r'^(\w+)\{.*quantile="', scrape(), re.MULTILINE))
    assert {f"{name}_max" for name in with_quantiles} <= {name for name, _, _ in documented()}


def test_the_mapping_of_pool_metrics_names_documented_ones() -> None:
    names = {name for name, _, _ in documented()}
    mapped = dict(re.findall(r"^\| `(hikaricp_\w+)` \| `(queuebox_db_pool_\w+)` \|$", PAGE.read_text(), re.MULTILINE))
    assert mapped == {name.replace("queuebox_db_pool_", "hikaricp_"): name for name in names if "_db_pool_" in name}
