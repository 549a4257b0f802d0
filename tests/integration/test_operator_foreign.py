"""An object of somebody else is left alone, also when it has the name of one of the agents."""

from typing import Any

import pytest

from services.boxes import NAME, Namespace, whole
from services.waiting import until

pytestmark = pytest.mark.kubernetes

THEIRS: dict[str, dict[str, Any]] = {
    "ServiceAccount": {},
    "ConfigMap": {"data": {"theirs": "1"}},
    "Service": {"spec": {"ports": [{"name": "web", "port": 80}]}},
}


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("kind", THEIRS)
async def test_what_was_there_before_is_not_taken_over(shop: Namespace, kind: str) -> None:
    meta = {"name": f"queuebox-{NAME}"}
    shop.apply({"apiVersion": "v1", "kind": kind, "metadata": meta} | THEIRS[kind])
    before = shop.get(kind)
    shop.apply(*whole())
    await shop.until("QueueBox", NAME, "Ready=False", "ApplyFailed")
    said = shop.condition("QueueBox", NAME, "Ready")["message"]
    assert f"the {kind} queuebox-{NAME} exists and belongs to somebody else" in said
    assert shop.get(kind) == before
    assert not shop.there("Deployment")


@pytest.mark.usefixtures("running")
async def test_the_box_goes_on_when_what_was_in_its_place_is_gone(shop: Namespace) -> None:
    shop.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": f"queuebox-{NAME}"}}, *whole())
    await shop.until("QueueBox", NAME, "Ready=False", "ApplyFailed")
    shop.cluster.delete("ServiceAccount", f"queuebox-{NAME}", shop.name)
    await until(lambda: shop.there("Deployment"), 30, "the agents", every=0.1)


async def test_an_object_that_lost_its_labels_still_belongs_to_its_box(delivering: Namespace) -> None:
    before = delivering.get("Service")["metadata"]
    bare = {"metadata": {"labels": dict.fromkeys(before["labels"])}}
    delivering.cluster.patch("Service", f"queuebox-{NAME}", bare, delivering.name)
    await until(
        lambda: delivering.get("Service")["metadata"].get("labels") == before["labels"], 10, "its labels", every=0.05
    )
    assert delivering.get("Service")["metadata"]["uid"] == before["uid"]


async def test_an_object_that_lost_its_owner_still_belongs_to_its_box(delivering: Namespace) -> None:
    before = delivering.get("Service")["metadata"]
    delivering.cluster.patch("Service", f"queuebox-{NAME}", {"metadata": {"ownerReferences": None}}, delivering.name)
    await until(
        lambda: delivering.get("Service")["metadata"].get("ownerReferences") == before["ownerReferences"],
        10, "its owner", every=0.05,
    )  # fmt: skip
