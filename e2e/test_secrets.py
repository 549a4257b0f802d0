"""Credentials that change."""

import pytest

from e2e.system import objects
from e2e.system.shop import Shop
from e2e.system.traffic import traffic
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


def test_a_rotated_secret_rolls_the_agent_and_delivery_goes_on(shop: Shop) -> None:
    shop.apply(objects.secret("receiver", value="Bearer first"))
    reference = {"headerValueSecretRef": {"name": "receiver", "key": "value"}}
    shop.open(objects.destination(shop.name, http={"auth": {"header": reference}}))
    with traffic(shop) as flowing:
        before = shop.uids()
        shop.apply(objects.secret("receiver", value="Bearer second"))
        until_sync(lambda: flowing.last().authorization == "Bearer second", 45, "the new value", every=0.3)
        until_sync(lambda: not before & shop.uids(), 20, "the end of the agent from before", every=0.3)
        flowing.goes_on()


def test_a_password_of_the_database_that_changed_is_used(shop: Shop) -> None:
    shop.open()
    shop.psql(f"""ALTER ROLE "{shop.name}" PASSWORD 'the-second-password'""")
    before = shop.uids()
    shop.apply(objects.secret("database", password="the-second-password"))
    until_sync(lambda: bool(shop.uids()) and not before & shop.uids(), 45, "agents that read it", every=0.3)
    shop.wait("queuebox/shop", "condition=Ready")
    shop.delivers()
