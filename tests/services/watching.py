"""A world as a process, `watching.py KUBECONFIG [NAMESPACE...]`: it says when it has listed, and what it hears of."""

import asyncio
import signal
import sys
from pathlib import Path

from queuebox_operator.facts import Ref
from queuebox_operator.kube.credentials import from_kubeconfig
from queuebox_operator.watch import World


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def hear(box: Ref) -> None:
    say(f"heard {box.name}")


async def main(kubeconfig: Path, *namespaces: str) -> None:
    world, stop = World(from_kubeconfig(kubeconfig), namespaces), asyncio.Event()
    running = asyncio.create_task(world.run(stop))
    await world.synced.wait()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    world.changed(hear)
    say(f"listed {len(world.cache)}")
    await running


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
