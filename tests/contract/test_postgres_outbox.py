"""The outbox contract on PostgreSQL, on the bundled table and on one whose table and columns all have other names."""

from collections.abc import AsyncIterator, Iterator

import pytest

from contract.outbox_claim import ClaimRules
from contract.outbox_fence import FenceRules
from contract.outbox_keys import KeyRules
from contract.outbox_lease import BacklogRules, LeaseRules
from contract.outbox_settle import SettleRules
from contract.outbox_skip import SkipRules
from contract.outbox_store import LEASE, Bench
from queuebox_agent.store.postgres.names import OutboxNames
from queuebox_agent.store.postgres.outbox import PostgresOutbox
from services.outbox_table import DEFAULT_NAMES, OTHER_NAMES, PostgresTable
from services.postgres import new_database
from services.stores import open_pool

NAMES = {"the bundled table": DEFAULT_NAMES, "a table named order": OTHER_NAMES}


@pytest.fixture(scope="module", params=list(NAMES.values()), ids=list(NAMES))
def named(
    request: pytest.FixtureRequest, postgres_url: str, migrated_template: str
) -> Iterator[tuple[str, OutboxNames]]:
    """A database for the tests of this file, and the names of its table."""
    names: OutboxNames = request.param
    with new_database(postgres_url, migrated_template) as url:
        with PostgresTable(url, names) as table:
            table.rename()
        yield url, names


@pytest.fixture
async def bench(named: tuple[str, OutboxNames]) -> AsyncIterator[Bench]:
    url, names = named
    with PostgresTable(url, names) as table:
        table.clear()
        async with open_pool(url) as pool, open_pool(url) as other:
            yield Bench(table, PostgresOutbox(pool, names, LEASE), PostgresOutbox(other, names, LEASE))


class TestClaim(ClaimRules):
    pass


class TestKeys(KeyRules):
    pass


class TestSkip(SkipRules):
    pass


class TestSettle(SettleRules):
    pass


class TestFence(FenceRules):
    pass


class TestLease(LeaseRules):
    pass


class TestBacklog(BacklogRules):
    pass
