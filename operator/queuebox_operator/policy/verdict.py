"""What the policy says of one custom resource, and the steps that all kinds share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from queuebox_api.config import Finding
from queuebox_api.names import Path, dotted
from queuebox_api.resources import Reason, gaps, secret_refs, to_config
from queuebox_api.resources.database import KeysOf
from queuebox_operator.facts import Resource, SecretFact
from queuebox_operator.policy.expression import Fault, jsonata_fault
from queuebox_operator.record import Entry, mount

Secrets = Mapping[str, SecretFact]

MOST_FINDINGS: Final = 5
LONGEST_TEXT: Final = 400


class Refusal(NamedTuple):
    """Why a condition is false."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a resource asks for, and what is wrong with it on its own."""

    asked: Entry | None
    """The entry that the spec stands for; None when it is refused or unresolved."""
    refused: Refusal | None = None
    unresolved: Refusal | None = None
    suspended: bool = False

    @property
    def entry(self) -> Entry | None:
        """What goes into the configuration now; None when the last good entry stays."""
        return None if self.suspended else self.asked


def judged(resource: Resource, secrets: Secrets, broken: Iterable[Finding], findings: Iterable[Finding]) -> Verdict:
    """The verdict on a resource of which `broken` does not compile and `findings` is all else that is wrong.

    What cannot be done yet is found in the whole configuration; here only of what does not come as far as that.
    """
    suspended = resource.spec.get("suspend") is True
    if refused := refusal(broken, findings):
        return Verdict(None, refused=refused, suspended=suspended)
    unresolved = missing_secret(resource, secrets)
    if unresolved and (beyond := gaps(resource.ref.kind, resource.spec, keys_in(secrets))):
        return Verdict(None, refused=Refusal(Reason.UNSUPPORTED, told(beyond)), suspended=suspended)
    asked = None if unresolved else _entry(resource, secrets)
    return Verdict(asked, unresolved=unresolved, suspended=suspended)


def refusal(broken: Iterable[Finding], findings: Iterable[Finding]) -> Refusal | None:
    """The finding that an expression does not compile is told first."""
    expressions, others = list(broken), list(findings)
    if not expressions and not others:
        return None
    return Refusal(Reason.INVALID_EXPRESSION if expressions else Reason.INVALID, told([*expressions, *others]))


def told(findings: list[Finding]) -> str:
    """The findings for a person."""
    lines = [f"{dotted(('spec', *path))}: {text[:LONGEST_TEXT]}" for path, text in findings[:MOST_FINDINGS]]
    more = len(findings) - len(lines)
    return "; ".join([*lines, f"and {more} more"] if more else lines)


def missing_secret(resource: Resource, secrets: Secrets) -> Refusal | None:
    """The first Secret, or key of one, that the spec names and that is not there."""
    for path, name, key in secret_refs(resource.ref.kind, resource.spec, keys_in(secrets)):
        place = dotted(("spec", *path))
        if name not in secrets:
            return Refusal(Reason.SECRET_NOT_FOUND, f"{place}: there is no Secret {name}")
        keys = secrets[name].keys
        if keys is not None and key not in keys:
            return Refusal(Reason.SECRET_KEY_NOT_FOUND, f"{place}: the Secret {name} has no key {key}")
    return None


def keys_in(secrets: Secrets) -> KeysOf:
    """How queuebox_api asks for the keys of a Secret."""
    return lambda name: secrets[name].keys if name in secrets else None


def _entry(resource: Resource, secrets: Secrets) -> Entry:
    kind, spec, keys = resource.ref.kind, resource.spec, keys_in(secrets)
    return Entry(
        generation=resource.generation,
        created=resource.created,
        content=to_config(kind, spec, mount, keys),
        secrets=tuple(sorted({(name, key) for _, name, key in secret_refs(kind, spec, keys)})),
        priority=int(spec.get("priority", 0)) if kind == "Route" else 0,
    )


def broken_transform(spec: Mapping[str, Any]) -> list[Finding]:
    """The finding that the expression of `transform` does not compile."""
    transform = spec.get("transform")
    expression = transform.get("expression") if isinstance(transform, Mapping) else None
    fault = jsonata_fault(expression) if isinstance(expression, str) else None
    return [Finding(("transform", "expression"), in_words(fault))] if fault else []


def in_words(fault: Fault) -> str:
    """Where, counted from 1, and what."""
    return f"at character {fault.position + 1}: {fault.text}"


def without(findings: Iterable[Finding], paths: set[Path]) -> list[Finding]:
    """The findings at other places."""
    return [finding for finding in findings if finding.path not in paths]
