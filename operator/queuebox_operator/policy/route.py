"""What is wrong with a Route on its own. Whether its Destination is there is told where entries are chosen."""

from collections.abc import Mapping
from typing import Any

from queuebox_api.config import Finding
from queuebox_api.resources import check
from queuebox_operator.facts import Resource
from queuebox_operator.policy.verdict import Secrets, Verdict, broken_transform, judged


def broken(spec: Mapping[str, Any]) -> list[Finding]:
    """Its expressions that do not compile."""
    return broken_transform(spec)


def judge(route: Resource, secrets: Secrets) -> Verdict:
    """Whether it can be an entry of the configuration."""
    return judged(route, secrets, broken(route.spec), check("Route", route.spec))
