"""Fixtures for the installed system. Tests that carry the marker `cluster` run in the cluster that KUBECONFIG names."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from e2e.system import images
from e2e.system.beside import Beside
from e2e.system.figures import SHOWN
from e2e.system.operator import Operator
from e2e.system.shop import Shop, new_shop
from services.cluster import Cluster

REQUIRED = os.environ.get("QUEUEBOX_TEST_REQUIRE") == "all"
NO_CLUSTER = "no cluster: KUBECONFIG is not set; `make e2e` makes a kind cluster"


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The cluster of KUBECONFIG, which the tests may break."""
    named = os.environ.get("KUBECONFIG")
    if not named:
        if REQUIRED:
            pytest.fail(NO_CLUSTER)
        pytest.skip(NO_CLUSTER)
    return Cluster(Path(named))


@pytest.fixture(scope="session")
def operator(cluster: Cluster) -> Operator:
    """The operator with the image under test, installed once."""
    installed = Operator(cluster)
    installed.install(images.PRODUCT)
    return installed


@pytest.fixture(scope="session")
def beside(cluster: Cluster) -> Beside:
    """PostgreSQL and the receiver, installed once."""
    standing = Beside(cluster)
    standing.install()
    return standing


@pytest.fixture
def shop(cluster: Cluster, operator: Operator, beside: Beside) -> Iterator[Shop]:
    """A tenant of this test's own; nothing is applied yet."""
    with new_shop(cluster, beside) as made:
        yield made


@pytest.fixture(scope="module")
def open_shop(cluster: Cluster, operator: Operator, beside: Beside) -> Iterator[Shop]:
    """A tenant with a box, a destination and a route that deliver, for all tests of a file."""
    with new_shop(cluster, beside) as made:
        made.open()
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what the cluster held at that time."""
    report = yield
    if report.failed and isinstance(item, pytest.Function):
        shops = [value for value in item.funcargs.values() if isinstance(value, Shop)]
        for shop in shops:
            report.sections.append((f"namespace {shop.name}", shop.story()))
            report.sections.append(("operator", Operator(shop.cluster).logs()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SHOWN:
        terminalreporter.section("figures")
        for line in SHOWN:
            terminalreporter.write_line(line)
