"""Pure checks: what is wrong with a custom resource, and what of it goes into the configuration."""

from collections.abc import Mapping
from typing import Any, Final

from queuebox_api.config import Finding
from queuebox_api.resources import check
from queuebox_operator.policy import destination, route, source
from queuebox_operator.policy.verdict import without

_BROKEN: Final = {"Source": source.broken, "Destination": destination.broken, "Route": route.broken}


def findings(kind: str, spec: Mapping[str, Any]) -> list[Finding]:
    """Everything for which a spec is refused whatever the cluster holds; what does not compile stands first."""
    broken = _BROKEN[kind](spec) if kind in _BROKEN else []
    return [*broken, *without(check(kind, spec), {finding.path for finding in broken})]
