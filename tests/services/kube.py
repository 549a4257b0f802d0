"""The operator's own doors to a cluster, opened for a test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from queuebox_operator.facts import Ref
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.credentials import from_kubeconfig
from queuebox_operator.kube.session import open_session
from queuebox_operator.watch import World
from services.waiting import until


@asynccontextmanager
async def open_api(kubeconfig: Path, may_write: Callable[[], bool] = lambda: True) -> AsyncIterator[Api]:
    async with open_session(from_kubeconfig(kubeconfig)) as http:
        yield Api(http, may_write)


class Heard:
    """The boxes that a world told of, until it is asked to forget them."""

    def __init__(self) -> None:
        self.boxes: list[Ref] = []

    def __call__(self, box: Ref) -> None:
        self.boxes.append(box)

    def of(self, box: Ref) -> bool:
        return box in self.boxes


@asynccontextmanager
async def open_world(kubeconfig: Path, *namespaces: str) -> AsyncIterator[tuple[World, Heard]]:
    """A world that has listed everything and stays current; what it tells from now on is heard."""
    world, stop = World(from_kubeconfig(kubeconfig), namespaces), asyncio.Event()
    running = asyncio.create_task(world.run(stop))
    try:
        await until(lambda: world.synced.is_set() or running.done(), 30, "the first lists")
        heard = Heard()
        world.changed(heard)
        yield world, heard
    finally:
        stop.set()
        await running
