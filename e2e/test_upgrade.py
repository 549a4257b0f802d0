"""Another version of the product."""

from collections.abc import Iterator

import pytest

from e2e.system import images
from e2e.system.operator import Operator
from e2e.system.shop import Shop
from e2e.system.traffic import traffic
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


@pytest.fixture
def upgraded_back(operator: Operator) -> Iterator[Operator]:
    """The operator, which has the image under test again when the test is over."""
    yield operator
    operator.install(images.PRODUCT)


def test_an_upgrade_rolls_every_agent_and_loses_nothing(shop: Shop, upgraded_back: Operator) -> None:
    shop.open(replicas=2)
    with traffic(shop) as flowing:
        upgraded_back.install(images.NEXT)

        def moved() -> bool:
            running = [pod["spec"]["containers"][0]["image"] for pod in shop.agents()]
            return running == [images.NEXT] * 2

        until_sync(moved, 60, "two agents of the new image", every=0.3)
        shop.wait("queuebox/shop", "condition=Ready")
        flowing.goes_on()
