"""A kustomization over one of the project's own, as a user writes it."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def kustomization(base: str, components: Sequence[str] = (), **more: Any) -> Iterator[str]:
    """The folder of a kustomization of `base` with `components`; these are folders below `manifests`."""
    with tempfile.TemporaryDirectory(prefix="queuebox-e2e-") as made:
        folder = Path(made).resolve()
        wanted = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [from_manifests(base, folder)],
            "components": [from_manifests(name, folder) for name in components],
            **more,
        }
        (folder / "kustomization.yaml").write_text(json.dumps(wanted))
        yield str(folder)


def from_manifests(name: str, folder: Path) -> str:
    """What a kustomization in that folder calls a folder of the manifests."""
    return os.path.relpath(ROOT / "manifests" / name, folder)
