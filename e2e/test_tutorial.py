"""The tutorial on Kubernetes, block by block, as a newcomer follows it. Only the images are others."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.system import images
from e2e.system.kustomize import ROOT
from e2e.system.operator import Operator
from services.cluster import Cluster
from services.docs import DOCS, blocks
from services.reader import Reader
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

PAGE = DOCS / "tutorials" / "kubernetes.md"
IMAGES = {r"queuebox/queuebox:\S+": images.PRODUCT, r"(?<=image: )postgres:\S+": images.BESIDE}


@pytest.fixture
def newcomer(cluster: Cluster, operator: Operator, tmp_path: Path) -> Iterator[Reader]:
    """In a source tree that names the images under test. In the end the operator is as other tests need it."""
    until_sync(lambda: cluster.get("Namespace", "shop") is None, 60, "the end of an earlier shop", every=0.5)
    shutil.copytree(ROOT / "manifests", tmp_path / "manifests")
    for file in (tmp_path / "manifests").rglob("*.yaml"):
        text = file.read_text()
        for theirs, ours in IMAGES.items():
            text = re.sub(theirs, ours, text)
        file.write_text(text)
    yield Reader(tmp_path, {"KUBECONFIG": str(cluster.kubeconfig)}, look_every=0.3)
    cluster.delete("Namespace", "shop")
    operator.install(images.PRODUCT)


def test_every_step_of_the_tutorial_does_what_it_says(newcomer: Reader) -> None:
    for block in blocks(PAGE):
        newcomer.follow(block)
