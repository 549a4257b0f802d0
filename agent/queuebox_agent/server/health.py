"""Is every part up? Readiness asks the parts; liveness asks nobody (spec page 27, health)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from queuebox_agent.errors import Unavailable

log = logging.getLogger(__name__)

CHECK_SECONDS = 3.0
"""A check that has not answered by then counts as down."""

Check = Callable[[], Awaitable[object]]
"""Returns when the component is up, whatever it returns; raises anything when it is down."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a probe found: `components` says of each by name whether it is up."""

    healthy: bool
    components: dict[str, bool]

    def body(self) -> dict[str, object]:
        """The JSON of the health routes."""
        return {
            "status": "healthy" if self.healthy else "unhealthy",
            "components": {name: {"status": "up" if up else "down"} for name, up in self.components.items()},
        }


def process(*, up: bool) -> Report:
    """A report on the process alone, which touches nothing."""
    return Report(healthy=up, components={"process": up})


class Health:
    """The components of this process, in the order of their registration."""

    def __init__(self, bound: float = CHECK_SECONDS) -> None:
        self._bound = bound
        self._components: list[_Component] = []

    def add(self, name: str, check: Check, *, decides: bool = True) -> None:
        """Probe `check` from now on. A component that does not decide is shown and never makes the report unhealthy."""
        self._components.append(_Component(name, check, self._bound, decides))

    def add_flag(self, name: str, is_up: Callable[[], bool], *, decides: bool = True) -> None:
        """The same for a component that knows its state without asking anyone."""

        async def check() -> None:
            if not is_up():
                raise Unavailable("it does not run")

        self.add(name, check, decides=decides)

    async def report(self) -> Report:
        """Ask all components at once; takes no longer than the bound of one check."""
        ups = await asyncio.gather(*(component.is_up() for component in self._components))
        asked = list(zip(self._components, ups, strict=True))
        return Report(
            healthy=all(up for component, up in asked if component.decides),
            components={component.name: up for component, up in asked},
        )


@dataclass(slots=True)
class _Component:
    """One check. Probes that come while it runs share it, so that a check that hangs is never there twice."""

    name: str
    check: Check
    bound: float
    decides: bool
    _running: asyncio.Task[None] | None = field(default=None, init=False)
    _was_up: bool = field(default=True, init=False)

    async def is_up(self) -> bool:
        task = self._running
        if task is None or task.done():
            task = self._running = asyncio.create_task(self._ask(), name=f"health of {self.name}")
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        # Not wait_for: it would wait for a check that is slow to let itself be cancelled.
        await asyncio.wait({task}, timeout=self.bound)
        up = task.done() and not task.cancelled() and task.exception() is None
        self._report_change(task, up=up)
        return up

    async def _ask(self) -> None:
        async with asyncio.timeout(self.bound):
            await self.check()

    def _report_change(self, task: asyncio.Task[None], *, up: bool) -> None:
        if up == self._was_up:
            return
        self._was_up = up
        if up:
            log.info("component is up", extra={"component": self.name})
            return
        error = task.exception() if task.done() and not task.cancelled() else None
        late = error is None or isinstance(error, TimeoutError)
        reason = f"no answer within {self.bound:g} s" if late else f"{type(error).__name__}: {error}"
        log.warning("component is down", extra={"component": self.name, "reason": reason})
