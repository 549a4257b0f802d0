"""What of a Secret reaches the operator: its name and the names of its keys, and nothing else."""

import base64
from pathlib import Path

import pytest

from services import boxes, watching
from services.boxes import Namespace
from services.cluster import Cluster
from services.spoken import program

pytestmark = pytest.mark.kubernetes

LISTED, ROTATED = "listed-and-not-to-be-read", "rotated-and-not-to-be-read"


def forms(value: str) -> list[bytes]:
    return [value.encode(), base64.b64encode(value.encode())]


async def test_no_value_of_a_secret_is_ever_in_the_memory_of_the_process(
    kubeconfig: Path, cluster: Cluster, namespace: str
) -> None:
    there = Namespace(cluster, namespace)
    there.apply(*boxes.whole())
    there.apply(boxes.secret(password=LISTED, **{"name-of-a-key": "x"}))
    async with program(watching.__file__, str(kubeconfig), namespace) as watcher:
        assert (await watcher.line()).startswith("listed")
        there.apply(boxes.secret(password=ROTATED, **{"name-of-a-key": "x"}))
        await watcher.says(f"heard {boxes.NAME}")
        memory = watcher.memory()
    assert b"name-of-a-key" in memory, "what does arrive is found"
    assert [form for value in (LISTED, ROTATED) for form in forms(value) if form in memory] == []
