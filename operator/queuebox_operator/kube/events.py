"""Kubernetes Events: one object a transition, counted up when it happens again."""

import hashlib
import json
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any

from queuebox_operator import errors
from queuebox_operator.facts import Ref
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.kinds import PLACES
from queuebox_operator.plan import Happening

COMPONENT = "queuebox-operator"
LONGEST_MESSAGE = 1024
LONGEST_NAME = 200
MOST_REMEMBERED = 1000


class Events:
    """Needs the verbs `create` and `patch`, no others: how often an Event was told is remembered here."""

    def __init__(self, api: Api, instance: str) -> None:
        self._api, self._instance = api, instance
        self._counts: OrderedDict[Ref, int] = OrderedDict()

    async def tell(self, happening: Happening, uid: str) -> None:
        """Tell it of the object of that uid. What the API server keeps already gets a higher count."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        name = event_name(happening, uid)
        ref = Ref("Event", happening.about.namespace, name)
        try:
            count = await self._again(ref, now) if ref in self._counts else await self._first(ref, happening, uid, now)
        except errors.NotFound:  # the server forgets an Event after an hour
            count = await self._first(ref, happening, uid, now)
        self._counts[ref] = count
        self._counts.move_to_end(ref)
        if len(self._counts) > MOST_REMEMBERED:
            self._counts.popitem(last=False)

    async def _first(self, ref: Ref, happening: Happening, uid: str, now: str) -> int:
        try:
            await self._api.create(ref, event(ref, happening, uid, now, self._instance))
        except errors.Conflict:  # told by an operator before this one: its count comes with the answer
            told = await self._api.patch(ref, {"lastTimestamp": now})
            self._counts[ref] = int(told.get("count") or 1)
            return await self._again(ref, now)
        return 1

    async def _again(self, ref: Ref, now: str) -> int:
        count = self._counts[ref] + 1
        await self._api.patch(ref, {"count": count, "lastTimestamp": now})
        return count


def event_name(happening: Happening, uid: str) -> str:
    """The same for the same news about the same object."""
    told = json.dumps([uid, happening.type, happening.reason, happening.message])
    return f"{happening.about.name[:LONGEST_NAME].rstrip('.-')}.{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def event(ref: Ref, happening: Happening, uid: str, now: str, instance: str) -> dict[str, Any]:
    """The object that says it for the first time."""
    about = happening.about
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "involvedObject": {
            "apiVersion": PLACES[about.kind].version,
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": uid,
        },
        "type": happening.type,
        "reason": happening.reason,
        "message": happening.message[:LONGEST_MESSAGE],
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": instance,
    }
