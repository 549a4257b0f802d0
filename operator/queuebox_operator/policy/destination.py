"""What is wrong with a Destination on its own."""

from collections.abc import Mapping
from typing import Any

from queuebox_api.config import Finding
from queuebox_api.resources import check
from queuebox_operator.facts import Resource
from queuebox_operator.policy.verdict import Secrets, Verdict, broken_transform, judged


def broken(spec: Mapping[str, Any]) -> list[Finding]:
    """Its expressions that do not compile."""
    return broken_transform(spec)


def judge(destination: Resource, secrets: Secrets) -> Verdict:
    """Whether it can be an entry of the configuration."""
    return judged(destination, secrets, broken(destination.spec), check("Destination", destination.spec))
