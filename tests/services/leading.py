"""A candidate of the leader's election as a process: `leading.py KUBECONFIG NAMESPACE IDENTITY`.

While it leads it counts in a ConfigMap of its own, as fast as it can. What it is, it says line by line.
"""

import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path

from queuebox_operator.engine.lease import Lease
from queuebox_operator.errors import ApiError, NotLeader
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.credentials import from_kubeconfig
from queuebox_operator.kube.leases import LeaseObject
from queuebox_operator.kube.session import open_session
from services.waiting import working_for


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def count(api: Api, namespace: str, identity: str) -> None:
    say("leads")
    meta, turn = {"name": identity, "namespace": namespace}, 0
    try:
        while True:
            turn += 1
            wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"turn": str(turn)}}
            try:
                await api.apply(wanted)
            except (ApiError, NotLeader):
                await working_for(0.01)  # and again: only the fence holds it back
    finally:
        await api.landed()
        say("follows")


async def main(kubeconfig: Path, namespace: str, identity: str) -> None:
    async with open_session(from_kubeconfig(kubeconfig)) as http:
        lease = Lease(LeaseObject(Api(http), namespace, "leader"), identity)
        api = Api(http, lease.held)
        running = asyncio.create_task(lease.run(lambda: count(api, namespace, identity)))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        say("runs")
        with suppress(asyncio.CancelledError):
            await running


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
