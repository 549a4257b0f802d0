"""What a reconcile wants: plain values, made by the pure rooms, carried out by the controller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from queuebox_operator.facts import Manifest, Ref


@dataclass(frozen=True, slots=True)
class Happening:
    """A Kubernetes Event about a transition."""

    about: Ref
    type: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole wanted state of one box."""

    apply: tuple[Manifest, ...] = ()
    """Objects for server-side apply, in this order; what comes after a refused one is not written. The configuration
    stands before the workload that reads it, and the record last: what was refused never becomes last good."""
    delete: tuple[Ref, ...] = ()
    """Owned objects that the box does not want any more."""
    statuses: Mapping[Ref, Mapping[str, Any]] = field(default_factory=dict)
    """The whole `status` of each custom resource whose status changes; `lastTransitionTime` is kept where a condition
    did not change. What agents report is rounded, and changes no oftener than the report in the facts does."""
    happenings: tuple[Happening, ...] = ()
    new_agent: Mapping[str, Any] | None = None
    """The `spec.agent` that the workloads are made by and that the record does not hold yet: to blame when the API
    server refuses one of them."""
