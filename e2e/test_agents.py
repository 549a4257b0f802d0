"""What an agent may do in the cluster, and what becomes of its objects in other hands."""

import pytest

from e2e.system.shop import Shop
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

AGENT = "queuebox-shop"
LOOK = "import pathlib; print(pathlib.Path('/var/run/secrets/kubernetes.io').exists())"


def test_an_agent_has_no_token_of_a_service_account(open_shop: Shop) -> None:
    assert open_shop.kubectl("exec", f"deployment/{AGENT}", "--", "python", "-c", LOOK).strip() == "False"


def test_a_deleted_deployment_comes_back(open_shop: Shop) -> None:
    gone = open_shop.there("Deployment", AGENT)["metadata"]["uid"]
    open_shop.kubectl("delete", "deployment", AGENT, "--wait=true")

    def back() -> bool:
        found = open_shop.get("Deployment", AGENT)
        return found is not None and found["metadata"]["uid"] != gone

    until_sync(back, 20, "another Deployment", every=0.2)
    open_shop.wait("queuebox/shop", "condition=Ready")
    open_shop.delivers()


def test_an_edited_record_is_restored_and_no_agent_restarts(open_shop: Shop) -> None:
    open_shop.wait("queuebox/shop", "condition=Ready")
    wanted, agents = open_shop.there("ConfigMap", AGENT)["data"], open_shop.uids()
    open_shop.cluster.patch("ConfigMap", AGENT, {"data": {"entries.json": "{}"}}, open_shop.name)
    until_sync(lambda: open_shop.there("ConfigMap", AGENT)["data"] == wanted, 20, "the data from before", every=0.2)
    open_shop.delivers()
    assert open_shop.uids() == agents
