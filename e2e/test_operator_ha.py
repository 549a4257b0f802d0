"""Two replicas of the operator, one of which leads."""

import pytest

from e2e.system import objects
from e2e.system.figures import Stopwatch, figure
from e2e.system.operator import NAMESPACE, Operator
from e2e.system.shop import Shop
from services.cluster import Cluster
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@pytest.fixture
def leader(operator: Operator) -> str:
    """The pod that leads while both replicas are ready."""
    operator.settle()
    until_sync(lambda: bool(operator.leader()), 20, "a leader", every=0.2)
    return operator.leader()


def another_holder(operator: Operator, before: str, seconds: float) -> None:
    """Return when the lease is in other hands."""

    def taken() -> bool:
        holder = operator.lease().get("holderIdentity")
        return bool(holder) and holder != before

    until_sync(taken, seconds, "another leader", every=0.05)


def test_another_replica_leads_after_the_leader_was_killed(operator: Operator, leader: str, open_shop: Shop) -> None:
    before = operator.lease()["holderIdentity"]
    watch = Stopwatch()
    operator.kill(leader)
    another_holder(operator, before, 30)
    figure("a new leader after kill -9", taken := watch.seconds, goal=20)
    assert taken <= 20
    open_shop.apply(objects.route("more", "more.**"))
    open_shop.wait("route/more", "condition=Ready")


def test_another_replica_leads_at_once_after_a_clean_stop(operator: Operator, leader: str, cluster: Cluster) -> None:
    before = operator.lease()["holderIdentity"]
    watch = Stopwatch()
    cluster.kubectl("delete", "pod", leader, "--namespace", NAMESPACE, "--wait=false")
    another_holder(operator, before, 10)
    figure("a new leader after a clean stop", taken := watch.seconds, goal=2)
    assert taken <= 2


def test_agents_go_on_without_an_operator_and_it_catches_up_later(operator: Operator, open_shop: Shop) -> None:
    agents = open_shop.uids()
    with operator.absent():
        open_shop.delivers()
        open_shop.apply(objects.route("missed", "missed.**"))
        assert open_shop.uids() == agents
    open_shop.wait("route/missed", "condition=Ready")
