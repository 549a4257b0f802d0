"""The operator as its users install it: the CRDs and the overlay for a whole cluster, with the image under test."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from e2e.system.images import replaced
from e2e.system.kustomize import ROOT, kustomization
from services.cluster import Cluster
from services.waiting import until_sync

NAMESPACE = "queuebox-system"
NAME = "queuebox-operator"
LABELS = f"app.kubernetes.io/name={NAME}"
# Its process is not the first of the container, so that a test can kill it from there.
KILLABLE = {
    "target": {"kind": "Deployment", "name": NAME},
    "patch": '[{"op": "add", "path": "/spec/template/spec/shareProcessNamespace", "value": true}]',
}
KILL = """
import os, pathlib, signal
for process in pathlib.Path("/proc").glob("[0-9]*"):
    if b"queuebox-operator\\0run" in (process / "cmdline").read_bytes():
        os.kill(int(process.name), signal.SIGKILL)
"""


@dataclass(frozen=True, slots=True)
class Operator:
    """The installed operator."""

    cluster: Cluster

    def install(self, image: str, components: Sequence[str] = (), patches: Sequence[Mapping[str, Any]] = ()) -> None:
        """Install it, or change what is installed; returns when its replicas are of that image."""
        self.cluster.kubectl("apply", "--server-side", "--filename", str(ROOT / "crds"))
        self.cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "--filename", str(ROOT / "crds"))
        images, patches = replaced(**{"queuebox/queuebox": image}), [KILLABLE, *patches]
        with kustomization("overlays/cluster-wide", components, images=images, patches=patches) as folder:
            self.cluster.kubectl("apply", "--server-side", "--kustomize", folder)
        self.settle()

    def settle(self, namespace: str = NAMESPACE) -> None:
        """Return when all replicas are ready, and none from before is left."""
        self.cluster.kubectl("rollout", "status", f"deployment/{NAME}", "--namespace", namespace, "--timeout=80s")

    @contextmanager
    def absent(self) -> Iterator[None]:
        """No replica runs as long as the context lasts."""
        try:
            self._scale(0)
            until_sync(lambda: not self.cluster.list("Pod", NAMESPACE), 40, "no operator", every=0.3)
            yield
        finally:
            self._scale(2)
            self.settle()

    def _scale(self, replicas: int) -> None:
        self.cluster.kubectl("scale", f"deployment/{NAME}", "--namespace", NAMESPACE, f"--replicas={replicas}")

    def lease(self) -> dict[str, Any]:
        """The spec of the Lease by which one replica leads; empty before there was a leader."""
        lease = self.cluster.get("Lease", NAME, NAMESPACE)
        return dict(lease["spec"]) if lease else {}

    def leader(self) -> str:
        """The pod that leads; empty when none does."""
        holder = str(self.lease().get("holderIdentity") or "")
        names = [pod["metadata"]["name"] for pod in self.cluster.list("Pod", NAMESPACE, LABELS)]
        return next((name for name in names if holder.startswith(name)), "")

    def kill(self, pod: str) -> None:
        """SIGKILL to the process of this replica; the command in its container may end with it."""
        with suppress(AssertionError):
            self.cluster.kubectl("exec", pod, "--namespace", NAMESPACE, "--", "python", "-c", KILL)

    def logs(self) -> str:
        """What the replicas said last."""
        options = ("--tail=60", "--prefix", "--ignore-errors")
        return self.cluster.kubectl("logs", "--selector", LABELS, "--namespace", NAMESPACE, *options)
