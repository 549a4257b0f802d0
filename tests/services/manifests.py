"""What `kubectl kustomize` makes of the folders of manifests/, as plain objects."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "manifests"
CLUSTER_WIDE = MANIFESTS / "overlays" / "cluster-wide"
ONE_NAMESPACE = MANIFESTS / "overlays" / "one-namespace"
SHOP = MANIFESTS / "samples" / "shop"

Object = Mapping[str, Any]


@cache
def build(folder: Path) -> tuple[Object, ...]:
    """The objects of a folder with a kustomization, in the order in which they are applied."""
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl on PATH")
    built = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return tuple(yaml.safe_load_all(built.stdout))


def kustomization(folder: Path, resources: Sequence[Path], components: Sequence[str] = (), **rest: object) -> Path:
    """A kustomization as a user writes one, in a folder that is made for it."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "resources": [os.path.relpath(path, folder) for path in resources],
        "components": [os.path.relpath(MANIFESTS / "components" / name, folder) for name in components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(content | rest))
    return folder


def read(path: Path) -> list[Object]:
    """The objects of one file."""
    return list(yaml.safe_load_all(path.read_text()))


def sample_files() -> list[Path]:
    """Every file of the samples that holds objects."""
    return sorted(path for path in (MANIFESTS / "samples").rglob("*.yaml") if path.name != "kustomization.yaml")


def find(objects: Sequence[Object], kind: str, name: str) -> Object:
    """The object of that kind and name."""
    (found,) = (it for it in objects if (it["kind"], it["metadata"]["name"]) == (kind, name))
    return found


def pod_specs(objects: Sequence[Object]) -> Iterator[tuple[str, Object]]:
    """The name and the pod spec of every workload."""
    for it in objects:
        if template := it.get("spec", {}).get("template"):
            yield it["metadata"]["name"], template["spec"]
