"""What the schema lets through and the API server then refuses in an object of the agents."""

from typing import Any

import pytest

from services.boxes import NAME, Namespace, box, entries, route, whole
from services.operators import OperatorProcess
from services.waiting import until, working_for

pytestmark = pytest.mark.kubernetes


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}, "must be less than or equal to cpu limit"),
        ({"extraVolumes": [{"name": "ca", "emptyDri": {}}]}, "emptyDri"),
        ({"extraVolumeMounts": [{"name": "nowhere", "mountPath": "/ca"}]}, "nowhere"),
        ({"affinity": {"nodeAffinity": "near"}}, "nodeAffinity"),
    ],
    ids=["above-its-limit", "unknown-key", "no-such-volume", "wrong-type"],
)
async def test_an_object_that_is_refused_is_told_in_status_until_it_is_mended(
    shop: Namespace, agent: dict[str, Any], words: str
) -> None:
    shop.apply(*whole(agent=agent))
    await shop.until("QueueBox", NAME, "Accepted=False", "ApplyFailed")
    await shop.until("QueueBox", NAME, "Ready=False", "ApplyFailed")
    assert words in shop.condition("QueueBox", NAME, "Ready")["message"]
    shop.apply(box(agent={"replicas": 1}))
    await shop.until("QueueBox", NAME, "Ready=False", "Progressing")


REFUSED = {"replicas": 2, "affinity": {"nodeAffinity": "near"}}


@pytest.fixture
async def refused(shop: Namespace, running: OperatorProcess) -> Namespace:
    """A box that delivered when its agents were edited into what is refused."""
    await shop.deliver()
    shop.apply(box(agent=REFUSED))
    await shop.until("QueueBox", NAME, "Accepted=False", "ApplyFailed")
    return shop


async def test_what_is_refused_never_becomes_last_good(refused: Namespace) -> None:
    assert entries(refused.get("ConfigMap"))["agent"]["replicas"] == 1


async def test_a_route_moves_on_while_the_agents_are_refused(refused: Namespace) -> None:
    refused.apply(route(topics="invoice.**"))
    await until(lambda: refused.config()["routes"][0]["topicPattern"] == "invoice.**", 10, "the route", every=0.05)
    refused.run_agents()
    await refused.until("Route", "orders", "Ready=True")
    assert refused.condition("QueueBox", NAME, "Accepted")["reason"] == "ApplyFailed"
    assert refused.get("Deployment")["spec"]["replicas"] == 1


async def test_an_edit_of_the_agents_is_tried(refused: Namespace) -> None:
    refused.apply(box(agent={"replicas": 2}))
    await refused.until("QueueBox", NAME, "Accepted=True")
    assert refused.get("Deployment")["spec"]["replicas"] == 2


async def test_nothing_is_sent_again_and_again_while_the_agents_are_refused(
    refused: Namespace, running: OperatorProcess
) -> None:
    await working_for(1)
    before = await running.writes()
    await working_for(4)
    assert await running.writes() == before
