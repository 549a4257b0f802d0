"""The operator with 1 000 custom resources on a real API server, and how long the cluster is without a leader."""

import asyncio
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from bench.figure import Figure, against
from services.apiserver import ApiServer, running_api_server
from services.boxes import Json, Namespace, box, destination, route, secret
from services.deployments import deployments_roll_out
from services.operators import OperatorProcess, operators
from services.waiting import until, working_for

BOXES, DESTINATIONS, ROUTES = 20, 24, 25
RESOURCES = BOXES * (1 + DESTINATIONS + ROUTES)
CHANGES = 50
IDLE_SECONDS = float(os.environ.get("QUEUEBOX_BENCH_IDLE_SECONDS", "60"))
"""How long nothing may be written; 600 for the figure of the documentation."""
WRITES = {"create", "update", "patch", "delete"}
NAMESPACE = "default"


async def figures(_: str) -> list[Figure]:
    """It needs no database."""
    with ExitStack() as running:
        server = await asyncio.to_thread(running.enter_context, running_api_server())
        running.enter_context(deployments_roll_out(server.cluster))
        shop = Namespace(server.cluster, NAMESPACE)
        await asyncio.to_thread(lambda: shop.apply(*resources()))
        cold, changes, memory, idle = await _one(server, shop)
        killed, stopped = await _failovers(server)
    median = round(changes[CHANGES // 2], 2)
    facts: dict[str, object] = {"resources": RESOURCES, "boxes": BOXES, "cores": os.cpu_count() or 0}
    return [
        against("operator_cold_start_s", cold, "s", 20, **facts),
        against("operator_change_p99_s", changes[-1], "s", 2, changes=CHANGES, median_s=median, **facts),
        against("operator_rss_mib", memory, "MiB", 150, **facts),
        against("operator_idle_writes", idle, "writes", 1, seconds=IDLE_SECONDS, **facts),
        against("operator_failover_kill_s", killed, "s", 20, **facts),
        against("operator_failover_stop_s", stopped, "s", 2, **facts),
    ]


def resources() -> Iterator[Json]:
    """One thousand, and the Secret that the boxes share."""
    yield secret()
    for number in range(BOXES):
        name = f"box{number:02}"
        yield box(name)
        yield from (destination(f"{name}-to{to:02}", name, f"http://{name}:{8000 + to}") for to in range(DESTINATIONS))
        for which in range(ROUTES):
            to = f"{name}-to{which % DESTINATIONS:02}"
            yield route(f"{name}-route{which:02}", name, to, f"topic{which:02}.*")


async def _one(server: ApiServer, shop: Namespace) -> tuple[float, list[float], float, float]:
    """Cold start, sorted times of the changes, resident memory, writes while idle."""
    began = time.monotonic()
    async with operators(server.kubeconfig) as (only,):
        await until(lambda: _all_ready(only), 120, "every resource to be ready", every=0.1)
        cold = time.monotonic() - began
        changes = sorted([await _change(shop, number) for number in range(CHANGES)])
        memory = only.resident_mib()
        await working_for(3)
        asked = len(server.calls())
        await working_for(IDLE_SECONDS)
        idle = [call for call in server.calls()[asked:] if is_write(call)]
    return cold, changes, memory, float(len(idle))


def is_write(call: Json) -> bool:
    """Leases do not count: they are there to be renewed. The API server keeps some of its own."""
    resource = call.get("objectRef", {}).get("resource")
    ours = not str(call["user"]["username"]).startswith("system:")
    return ours and call["verb"] in WRITES and resource != "leases"


async def _change(shop: Namespace, number: int) -> float:
    """Seconds from an edit of a route until its status says that the agents run it."""
    name = f"box{number % BOXES:02}"
    edited = route(f"{name}-route00", name, f"{name}-to00", f"edited{number}.*")
    shop.apply(edited)
    began = time.monotonic()
    await shop.until("Route", edited["metadata"]["name"], "Ready=True", seconds=30)
    return time.monotonic() - began


async def _all_ready(only: OperatorProcess) -> bool:
    pattern = r'^queuebox_operator_objects\{condition="Ready",kind="\w+",status="True"\} (\S+)$'
    return sum(map(float, re.findall(pattern, await only.scrape(), re.MULTILINE))) == RESOURCES


async def _failovers(server: ApiServer) -> tuple[float, float]:
    """Seconds without a leader after kill -9 of it, and after a clean stop."""
    async with operators(server.kubeconfig, count=3) as started:
        leader = await _leader(started)
        began = time.monotonic()
        await leader.kill()
        rest = [it for it in started if it is not leader]
        leader = await _leader(rest)
        killed = time.monotonic() - began
        began = time.monotonic()
        stopping = asyncio.create_task(leader.stop())
        (last,) = (it for it in rest if it is not leader)
        await until(last.leads, 60, "a leader after the stop")
        stopped = time.monotonic() - began
        await stopping
    return killed, stopped


async def _leader(started: Sequence[OperatorProcess]) -> OperatorProcess:
    """The first of them that leads, as soon as one does."""
    leading: list[OperatorProcess] = []

    async def found() -> bool:
        leading.extend([it for it in started if await it.leads()])
        return bool(leading)

    await until(found, 60, "a leader", every=0.02)
    return leading[0]
