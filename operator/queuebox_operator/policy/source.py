"""What is wrong with a Source on its own."""

from collections.abc import Mapping
from typing import Any, Final

from queuebox_api.config import Finding
from queuebox_api.resources import check
from queuebox_operator.facts import Resource
from queuebox_operator.policy.expression import json_path_fault
from queuebox_operator.policy.verdict import Secrets, Verdict, broken_transform, in_words, judged, without

_JSON_PATHS: Final = ("idempotencyKeyPath", "aggregateIdPath", "eventTypePath")


def broken(spec: Mapping[str, Any]) -> list[Finding]:
    """Its expressions that do not compile."""
    faults = ((key, json_path_fault(path)) for key in _JSON_PATHS if isinstance(path := spec.get(key), str))
    return [*(Finding((key,), in_words(fault)) for key, fault in faults if fault), *broken_transform(spec)]


def judge(source: Resource, secrets: Secrets) -> Verdict:
    """Whether it can be an entry of the configuration."""
    expressions = broken(source.spec)
    findings = without(check("Source", source.spec), {finding.path for finding in expressions})
    return judged(source, secrets, expressions, findings)
