"""Which transitions are worth an Event: told once, when a condition changes its status or its reason."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import Resource
from queuebox_operator.plan import Happening

_TOLD_BY_OTHERS: Final = (ConditionType.ACCEPTED, ConditionType.RESOLVED_REFS)
"""When one of them is not true, Ready only repeats it."""
_ON_ITS_WAY: Final = frozenset(
    map(str, (Reason.PENDING, Reason.PROGRESSING, Reason.BOX_NOT_READY, Reason.NOT_PROGRAMMED, Reason.LAST_GOOD))
)


def happenings(resource: Resource, status: Mapping[str, Any]) -> Iterator[Happening]:
    """The Events that the way from the status so far to the next one makes."""
    before, after = _by_type(resource.status), _by_type(status)
    for kind in _TOLD_BY_OTHERS:
        then, now = before.get(kind, {}), after[kind]
        if _is_another(then, now) and (now["status"] == "False" or then.get("status") == "False"):
            yield _happening(resource, now, good=now["status"] != "False")
    ready = after[ConditionType.READY]
    others = [after[kind] for kind in _TOLD_BY_OTHERS]
    repeats = ready["reason"] in {it["reason"] for it in others if it["status"] == "False"}
    then = before.get(ConditionType.READY, {})
    if repeats or ready["reason"] in _ON_ITS_WAY or _is_told_by_the_box(resource, then, ready):
        return
    if _is_another(then, ready):
        yield _happening(resource, ready, good=ready["status"] == "True" and ready["reason"] != Reason.SHADOWED)


def _is_told_by_the_box(resource: Resource, then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return resource.ref.kind != "QueueBox" and Reason.SCALED_TO_ZERO in {then.get("reason"), now["reason"]}


def _is_another(then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return (then.get("status"), then.get("reason")) != (now["status"], now["reason"])


def _happening(resource: Resource, condition: Mapping[str, Any], *, good: bool) -> Happening:
    return Happening(resource.ref, "Normal" if good else "Warning", condition["reason"], condition["message"])


def _by_type(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {it["type"]: it for it in status.get("conditions") or ()}
