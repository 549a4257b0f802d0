"""The router: the first route whose pattern matches the topic names the destination (spec page 11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from queuebox_agent.domain.pattern import TopicPattern

REMEMBERED_TOPICS = 10_000


@dataclass(frozen=True, slots=True)
class Route:
    """A pattern and where its topics go."""

    pattern: TopicPattern
    destination: str


class Router:
    """First match in configuration order. A route to a destination that does not exist counts as no route."""

    def __init__(self, routes: Sequence[Route], destinations: frozenset[str]) -> None:
        self._routes = [route for route in routes if route.destination in destinations]
        self._known: dict[str, Route | None] = {}

    @property
    def destinations(self) -> frozenset[str]:
        """The destinations that some route names."""
        return frozenset(route.destination for route in self._routes)

    def match(self, topic: str) -> Route | None:
        """The route of a topic, or None when no route matches."""
        if topic not in self._known:
            if len(self._known) >= REMEMBERED_TOPICS:
                self._known.clear()
            self._known[topic] = next((route for route in self._routes if route.pattern.matches(topic)), None)
        return self._known[topic]
