"""One leader: who holds a Lease, until when it may write, and how it changes hands."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Protocol

from queuebox_operator.errors import ApiError

Spec = Mapping[str, Any]

DURATION_SECONDS = 15
DEADLINE_SECONDS = 10.0
PERIOD_SECONDS = 2.0
JITTER = 0.2

log = logging.getLogger(__name__)


class LeaseStore(Protocol):
    """The Lease object. Each call answers within a few seconds or raises ApiError."""

    async def read(self) -> Spec:
        """The object as it is; it is made when it is not there."""

    async def write(self, wanted: Spec) -> Spec:
        """Replace it, and return it as it then is; a Conflict when anybody wrote since `wanted` was read."""


def clock() -> float:
    """Seconds that go on while the process is stopped and while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def taken(spec: Spec, identity: str, now: str) -> dict[str, Any]:
    """The spec by which `identity` holds the lease from now on."""
    mine = dict(spec) | {"holderIdentity": identity, "leaseDurationSeconds": DURATION_SECONDS, "renewTime": now}
    if spec.get("holderIdentity") != identity:
        mine |= {"acquireTime": now, "leaseTransitions": spec.get("leaseTransitions", 0) + 1}
    return mine


def released(spec: Spec) -> dict[str, Any]:
    """The spec by which nobody holds it."""
    return dict(spec) | {"holderIdentity": "", "leaseDurationSeconds": 1}


class Lease:
    """A leader stops to write DEADLINE_SECONDS after it last renewed; another takes over after DURATION_SECONDS.

    No clock of another machine is read: what counts is how long ago this process saw the object change.
    """

    def __init__(self, store: LeaseStore, identity: str) -> None:
        self.identity = identity
        self.terms = 0
        """How often this process became the leader."""
        self._store = store
        self._until = float("-inf")
        self._seen: Spec = {}
        self._seen_at = clock()

    def held(self) -> bool:
        """Whether this process may write now."""
        return clock() < self._until

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Take the lease whenever it is free, run `lead` while it is held, give it back when cancelled.

        Ends with the error of `lead` when it ends with one; `lead` is cancelled when the lease is lost.
        """
        leading: asyncio.Future[None] | None = None
        try:
            while True:
                with suppress(ApiError):
                    await self._renew()
                if leading is None and self.held():
                    log.info("%s leads", self.identity)
                    self.terms += 1
                    leading = asyncio.ensure_future(lead())
                elif leading and (leading.done() or not self.held()):
                    log.warning("%s leads no more", self.identity)
                    await _ended(leading)
                    leading = None
                await self._rest()
        finally:
            try:
                await _ended(leading)
            finally:
                await self._release()

    async def _rest(self) -> None:
        # Whoever waits looks more often than the holder renews: a lease that was given back is free at once.
        period = PERIOD_SECONDS if self.held() else PERIOD_SECONDS / 2
        await asyncio.sleep(period * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311  no secret hangs on it

    async def _renew(self) -> None:
        began = clock()
        if not (self.held() and self._seen):
            await self._look()
        spec = self._seen.get("spec") or {}
        if spec.get("holderIdentity") != self.identity:
            led, self._until = self._until > float("-inf"), float("-inf")
            # A term that another may have interrupted ends first: it would go on with what it knew before.
            if led or self._belongs_to_another(spec):
                return
        await self._write(taken(spec, self.identity, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")))
        self._until = began + DEADLINE_SECONDS

    def _belongs_to_another(self, spec: Spec) -> bool:
        return bool(spec.get("holderIdentity")) and clock() < self._seen_at + spec.get("leaseDurationSeconds", 0)

    async def _look(self) -> None:
        found = await self._store.read()
        if _version(found) != _version(self._seen):
            self._seen, self._seen_at = found, clock()

    async def _write(self, spec: Spec) -> None:
        # Forgotten first: after an error nobody knows what the object is, and the next renewal looks.
        wanted, self._seen = dict(self._seen) | {"spec": spec}, {}
        self._seen, self._seen_at = await self._store.write(wanted), clock()

    async def _release(self) -> None:
        if self.held() and self._seen:
            self._until = float("-inf")
            with suppress(ApiError):
                await self._write(released(self._seen["spec"]))
        self._until = float("-inf")


def _version(found: Spec) -> str:
    return str(found.get("metadata", {}).get("resourceVersion", ""))


async def _ended(task: "asyncio.Future[None] | None") -> None:
    if task:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()):
            raise error
