"""What goes, what stays and what comes again."""

import pytest

from e2e.system import objects
from e2e.system.beside import Beside
from e2e.system.figures import timed
from e2e.system.operator import Operator
from e2e.system.shop import Shop, new_shop
from services.cluster import Cluster
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


def test_a_deleted_destination_that_a_route_names_goes_on_until_it_is_there_again(open_shop: Shop) -> None:
    agents = open_shop.uids()
    open_shop.kubectl("delete", "destination/receiver")
    open_shop.until_condition("Route", "receiver", "ResolvedRefs", "False", "DestinationNotFound")
    open_shop.delivers()
    open_shop.apply(objects.destination(open_shop.name))
    open_shop.wait("destination/receiver", "condition=Ready")
    open_shop.wait("route/receiver", "condition=Ready")
    open_shop.delivers()
    assert open_shop.uids() == agents


def test_a_deleted_box_takes_its_agents_with_it_and_can_come_again(open_shop: Shop) -> None:
    open_shop.kubectl("delete", "queuebox/shop")
    until_sync(lambda: not open_shop.agents(), 30, "no agents", every=0.3)
    for kind in ("Deployment", "Service", "ConfigMap", "ServiceAccount"):
        open_shop.until_gone(kind, "queuebox-shop")
    open_shop.until_condition("Route", "receiver", "ResolvedRefs", "False", "QueueBoxNotFound")
    open_shop.insert("order.waits")
    open_shop.apply(objects.queuebox(open_shop.name))
    open_shop.until_received("order.waits", 45)


def test_nothing_holds_up_the_deletion_of_a_namespace(cluster: Cluster, operator: Operator, beside: Beside) -> None:
    with new_shop(cluster, beside) as shop:
        shop.open()
        kept = [
            one["metadata"]["name"]
            for kind in ("QueueBox", "Destination", "Route")
            for one in cluster.list(kind, shop.name)
            if one["metadata"].get("finalizers")
        ]
        assert kept == []
        with timed("kubectl delete namespace", goal=60) as watch:
            cluster.kubectl("delete", "namespace", shop.name, "--timeout=80s")
        assert watch.seconds <= 60
