"""Who leads, among processes that are stopped, killed and paused, on a real API server."""

import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services import leading
from services.cluster import Cluster
from services.spoken import Program, program
from services.waiting import until

pytestmark = [pytest.mark.kubernetes, pytest.mark.fault]


@asynccontextmanager
async def candidate(kubeconfig: Path, namespace: str, identity: str) -> AsyncIterator[Program]:
    async with program(leading.__file__, str(kubeconfig), namespace, identity) as started:
        await started.says("runs")
        yield started


def turn_of(cluster: Cluster, namespace: str, identity: str) -> int:
    found = cluster.get("ConfigMap", identity, namespace)
    return int(found["data"]["turn"]) if found else 0


async def test_a_clean_stop_hands_over_within_two_seconds(kubeconfig: Path, cluster: Cluster, namespace: str) -> None:
    async with candidate(kubeconfig, namespace, "first") as first:
        await first.says("leads")
        async with candidate(kubeconfig, namespace, "second") as second:
            first.process.terminate()
            await first.says("follows")
            began = time.monotonic()
            await second.says("leads")
            assert time.monotonic() - began <= 2
            assert await first.process.wait() == 0
            assert turn_of(cluster, namespace, "first") > 0


async def test_after_a_kill_another_leads_within_twenty_seconds(kubeconfig: Path, namespace: str) -> None:
    async with candidate(kubeconfig, namespace, "first") as first:
        await first.says("leads")
        async with candidate(kubeconfig, namespace, "second") as second:
            first.process.kill()
            await second.says("leads", 20)


async def test_a_leader_that_was_paused_writes_nothing_when_it_wakes(
    kubeconfig: Path, cluster: Cluster, namespace: str
) -> None:
    async with candidate(kubeconfig, namespace, "first") as first:
        await first.says("leads")
        await until(lambda: turn_of(cluster, namespace, "first") > 0, what="a write of the leader")
        first.process.send_signal(signal.SIGSTOP)
        async with candidate(kubeconfig, namespace, "second") as second:
            await second.says("leads", 20)
            before = turn_of(cluster, namespace, "first")
            first.process.send_signal(signal.SIGCONT)
            await first.says("follows")
            assert turn_of(cluster, namespace, "first") == before
            assert turn_of(cluster, namespace, "second") > 0
