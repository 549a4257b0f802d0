"""Several operators: one leads, and another takes over."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Sequence

import pytest

from services.boxes import Namespace, destination
from services.cluster import Cluster
from services.operators import OperatorProcess, operators
from services.waiting import until, working_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(180)]

AFTER_KILL, AFTER_STOP = 20.0, 2.0
FROZEN_SECONDS = 17.0
"""Longer than the lease, and than a leader may write without renewing it."""


@pytest.fixture
def shop(cluster: Cluster, namespace: str) -> Namespace:
    return Namespace(cluster, namespace)


@pytest.fixture
async def pair(shop: Namespace) -> AsyncIterator[list[OperatorProcess]]:
    """Two operators for the namespace `shop`; the first leads."""
    options = (f"--namespace={shop.name}", f"--lease-namespace={shop.name}")
    async with operators(shop.cluster.kubeconfig, *options, count=2) as started:
        await until(lambda: _leaders(started), 20, "a leader", every=0.05)
        yield started if await started[0].leads() else started[::-1]


async def _leaders(started: Sequence[OperatorProcess]) -> bool:
    return any([await process.leads() for process in started])


async def test_one_of_two_leads_and_the_other_is_ready(pair: list[OperatorProcess]) -> None:
    first, second = pair
    assert await first.leads()
    assert not await second.leads()
    assert await second.ready()


async def test_only_the_leader_writes(shop: Namespace, pair: list[OperatorProcess]) -> None:
    await shop.deliver()
    assert await pair[0].writes() > 0
    assert await pair[1].writes() == 0


async def test_another_leads_soon_after_a_kill(shop: Namespace, pair: list[OperatorProcess]) -> None:
    first, second = pair
    await shop.deliver()
    await first.kill()
    began = time.monotonic()
    shop.apply(destination(url="http://other:8080"))
    await until(lambda: "other" in str(shop.config()), AFTER_KILL + 5, "the change", every=0.1)
    assert time.monotonic() - began <= AFTER_KILL
    assert await second.leads()


async def test_another_leads_at_once_after_a_clean_stop(shop: Namespace, pair: list[OperatorProcess]) -> None:
    first, second = pair
    began = time.monotonic()
    stopping = asyncio.create_task(first.stop())
    await until(second.leads, AFTER_STOP + 5, "another leader", every=0.02)
    assert time.monotonic() - began <= AFTER_STOP
    await stopping
    assert await first.ended() == 0


async def test_a_leader_that_was_frozen_past_its_lease_writes_nothing(
    shop: Namespace, pair: list[OperatorProcess]
) -> None:
    first, second = pair
    await shop.deliver()
    written = await first.writes()
    first.signal(signal.SIGSTOP)
    shop.apply(destination(url="http://other:8080"))
    await until(second.leads, FROZEN_SECONDS + 5, "another leader", every=0.1)
    first.signal(signal.SIGCONT)
    await working_for(2)
    assert await first.writes() == written
    assert not await first.leads()
    assert await second.leads()


async def test_a_second_signal_ends_it_at_once(pair: list[OperatorProcess]) -> None:
    first = pair[0]
    for _ in range(2):
        first.signal(signal.SIGTERM)
    assert await first.ended() in {0, -signal.SIGTERM}
