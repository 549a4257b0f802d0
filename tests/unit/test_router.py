from queuebox_agent.domain.pattern import TopicPattern
from queuebox_agent.domain.router import REMEMBERED_TOPICS, Route, Router


def router(*routes: tuple[str, str], destinations: str = "a b") -> Router:
    entries = [Route(TopicPattern(pattern), name) for pattern, name in routes]
    return Router(entries, frozenset(destinations.split()))


def destination_of(router: Router, topic: str) -> str | None:
    route = router.match(topic)
    return route.destination if route else None


def test_the_first_match_in_configuration_order_wins() -> None:
    assert destination_of(router(("invoice.*", "a"), ("**", "b")), "invoice.paid") == "a"


def test_a_later_route_takes_what_the_first_does_not_match() -> None:
    assert destination_of(router(("invoice.*", "a"), ("**", "b")), "order.paid") == "b"


def test_a_topic_that_matches_nothing_has_no_route() -> None:
    assert destination_of(router(("invoice.*", "a")), "order.paid") is None


def test_a_route_to_a_missing_destination_is_no_route() -> None:
    assert destination_of(router(("order.*", "gone")), "order.paid") is None


def test_only_destinations_that_a_route_names_count() -> None:
    assert router(("order.*", "a")).destinations == {"a"}


def test_the_memory_of_topics_is_bounded() -> None:
    known = router(("**", "a"))
    for number in range(REMEMBERED_TOPICS + 10):
        known.match(f"order.{number}")
    assert len(known._known) <= REMEMBERED_TOPICS
