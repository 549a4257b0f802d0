"""What it costs to know of a thousand resources."""

from pathlib import Path

import psutil
import pytest

from services import boxes, watching
from services.boxes import Namespace
from services.cluster import Cluster
from services.spoken import program

pytestmark = pytest.mark.kubernetes

BOXES, ROUTES = 50, 19
RESOURCES = BOXES * (1 + ROUTES)
RESIDENT_MIB = 110
"""Of 150 for the whole operator. In tests some of it is the official client: kopf imports it where it finds it."""


async def test_a_thousand_resources_leave_room_for_the_rest_of_the_operator(
    kubeconfig: Path, cluster: Cluster, namespace: str
) -> None:
    there = Namespace(cluster, namespace)
    for number in range(BOXES):
        name = f"box-{number}"
        there.apply(boxes.box(name), *(boxes.route(f"{name}-{it}", name) for it in range(ROUTES)))
    async with program(watching.__file__, str(kubeconfig), namespace) as watcher:
        assert int((await watcher.line()).split()[1]) >= RESOURCES
        resident = psutil.Process(watcher.process.pid).memory_info().rss / (1 << 20)
    assert resident <= RESIDENT_MIB
