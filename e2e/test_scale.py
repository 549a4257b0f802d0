"""More and fewer agents."""

import pytest

from e2e.system import objects
from e2e.system.shop import Shop
from e2e.system.traffic import traffic
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


def scale(shop: Shop, replicas: int) -> None:
    """Scale as a user does; returns when so many agents are ready and the others are gone."""
    shop.kubectl("scale", "queuebox/shop", f"--replicas={replicas}")

    def settled() -> bool:
        status = shop.there("QueueBox", "shop")["status"]
        return status.get("readyReplicas", 0) == replicas and len(shop.agents()) == replicas

    until_sync(settled, 60, f"{replicas} ready agents", every=0.3)


def test_nothing_is_lost_when_it_scales_up_and_down_under_load(shop: Shop) -> None:
    shop.open(takes=0.02)
    with traffic(shop) as flowing:
        scale(shop, 3)
        flowing.goes_on()
        scale(shop, 1)
        flowing.goes_on()


def test_at_zero_rows_wait_until_an_agent_is_wanted_again(shop: Shop) -> None:
    shop.open()
    scale(shop, 0)
    shop.until_condition("QueueBox", "shop", "Ready", "True", "ScaledToZero")
    shop.insert("order.waits")
    assert shop.received("order.waits") == []
    scale(shop, 1)
    shop.until_received("order.waits")


def test_a_box_without_a_route_starts_no_agent_so_that_no_row_goes_dead(shop: Shop) -> None:
    shop.apply(objects.queuebox(shop.name), objects.destination(shop.name))
    shop.until_condition("QueueBox", "shop", "Ready", "False", "NoRoutes")
    assert shop.agents() == []
    shop.apply(objects.route())
    shop.wait("queuebox/shop", "condition=Ready")
    shop.delivers()
