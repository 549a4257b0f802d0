"""A bad edit while rows flow: status says it, and delivery does not notice."""

from collections.abc import Iterator

import pytest

from e2e.system import objects
from e2e.system.shop import Shop
from e2e.system.traffic import Traffic, traffic

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def flowing(open_shop: Shop) -> Iterator[Traffic]:
    """Rows that are written during all tests of this file, and must all have arrived at its end."""
    with traffic(open_shop) as made:
        yield made


@pytest.fixture
def undisturbed(flowing: Traffic) -> Iterator[Shop]:
    """The shop, whose agents must be the same at the end of the test, and still deliver; then it is as it was."""
    shop = flowing.shop
    before = shop.uids()
    yield shop
    flowing.goes_on()
    assert shop.uids() == before
    assert shop.dead() == 0
    shop.apply(objects.destination(shop.name), objects.route())
    shop.wait("route/receiver", "condition=Ready")
    shop.wait("destination/receiver", "condition=Ready")


def test_a_new_route_to_no_destination(undisturbed: Shop) -> None:
    undisturbed.apply(objects.route("astray", "other.**", to="nobody"))
    message = undisturbed.until_condition("Route", "astray", "ResolvedRefs", "False", "DestinationNotFound")
    assert "nobody" in message
    assert undisturbed.condition("Route", "astray", "Ready")["status"] == "False"


def test_the_route_in_use_edited_to_a_destination_that_is_not_there(undisturbed: Shop) -> None:
    undisturbed.apply(objects.route(to="nobody"))
    undisturbed.until_condition("Route", "receiver", "ResolvedRefs", "False", "DestinationNotFound")


def test_a_new_destination_that_names_a_secret_that_is_not_there(undisturbed: Shop) -> None:
    bad = objects.destination(undisturbed.name, http={"auth": {"header": header("missing")}})
    bad["metadata"]["name"] = "secretive"
    undisturbed.apply(bad)
    message = undisturbed.until_condition("Destination", "secretive", "ResolvedRefs", "False", "SecretNotFound")
    assert "missing" in message


def test_the_destination_in_use_edited_to_name_a_secret_that_is_not_there(undisturbed: Shop) -> None:
    undisturbed.apply(objects.destination(undisturbed.name, http={"auth": {"header": header("missing")}}))
    undisturbed.until_condition("Destination", "receiver", "ResolvedRefs", "False", "SecretNotFound")


def test_the_destination_in_use_edited_to_what_this_version_cannot_do(undisturbed: Shop) -> None:
    nats = {"servers": "nats://nats:4222", "subject": "orders"}
    spec = {"queueBoxRef": {"name": "shop"}, "type": "nats", "nats": nats, "http": None}
    undisturbed.cluster.patch("Destination", "receiver", {"spec": spec}, undisturbed.name)
    undisturbed.until_condition("Destination", "receiver", "Accepted", "False", "Unsupported")
    undisturbed.kubectl("delete", "destination/receiver")  # so that the next apply is not one of two blocks


def test_an_expression_that_does_not_compile(undisturbed: Shop) -> None:
    undisturbed.apply(objects.route(transform={"expression": '{ "order": $.('}))
    message = undisturbed.until_condition("Route", "receiver", "Accepted", "False", "InvalidExpression")
    assert message.startswith("spec.transform.expression: at character ")


def header(secret: str) -> dict[str, object]:
    return {"headerValueSecretRef": {"name": secret, "key": "value"}}
