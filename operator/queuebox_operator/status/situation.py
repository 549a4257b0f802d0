"""How far the agents of a box are with its configuration."""

from dataclasses import dataclass
from functools import cached_property

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import Resource, Workload
from queuebox_operator.policy.choice import Asked, Choice
from queuebox_operator.record import Entry, Record
from queuebox_operator.status.conditions import Told, was_true

PROGRAMMED = Told("True", Reason.PROGRAMMED, "the agents run this spec")
NONE_RUNS = Told("True", Reason.PROGRAMMED, "no agent runs now; those that start run this spec")
SCALED_TO_ZERO = Told("True", Reason.SCALED_TO_ZERO, "no agent runs, as spec.agent.replicas says; rows wait")


@dataclass(frozen=True)
class Situation:
    """What the statuses of a box and of its resources are told from."""

    asked: Asked
    choice: Choice
    record: Record | None
    """What the agents are given now; None when there is nothing to give."""
    workload: Workload | None
    apply_problem: str = ""
    capture_owner: Workload | None = None

    @cached_property
    def hash(self) -> str:
        """Of the record."""
        return self.record.hash() if self.record else ""

    @cached_property
    def replicas(self) -> int:
        """How many agents there shall be."""
        return self.record.replicas() if self.record else 0

    @property
    def scaled_to_zero(self) -> bool:
        """Whether no agent runs because somebody wants none."""
        return self.record is not None and self.record.runs_agents() and self.replicas == 0

    @cached_property
    def rolled_out(self) -> bool:
        """Whether every agent has the configuration. Without any agent the workloads have it."""
        return self._has_it(self.workload, self.replicas) and (not self._captures or self._owner_has_it)

    @cached_property
    def available(self) -> int:
        """How many agents deliver."""
        return sum(it.available for it in self._workloads)

    @cached_property
    def problem(self) -> str:
        """Why agents do not come up; empty when nothing is known of it, or only of an earlier wish."""
        current = [it for it in self._workloads if it.observed_generation >= it.generation]
        return next((it.problem for it in current if it.problem), "")

    @property
    def runs(self) -> Told:
        """What Programmed says of a spec that the agents have."""
        return PROGRAMMED if self.replicas else NONE_RUNS

    @property
    def _captures(self) -> bool:
        return self.record is not None and self.record.captures()

    @property
    def _workloads(self) -> list[Workload]:
        found = (self.workload, self.capture_owner if self._captures else None)
        return [it for it in found if it is not None]

    @property
    def _owner_has_it(self) -> bool:
        return self._has_it(self.capture_owner, self.record.capture_owners() if self.record else 0)

    def _has_it(self, it: Workload | None, replicas: int) -> bool:
        if it is None or it.config_hash != self.hash or it.observed_generation < it.generation:
            return False
        return it.replicas == it.updated == replicas and it.available >= it.updated

    def rollout(self) -> Told:
        """How far a change is that is not with every agent yet."""
        if self.apply_problem:
            return Told("False", Reason.APPLY_FAILED, self.apply_problem)
        if self.problem:
            return Told("False", Reason.ROLLOUT_FAILED, self.problem)
        if self._captures and self._has_it(self.workload, self.replicas):
            return Told("False", Reason.ROLLING_OUT, "the capture owner with the new configuration is starting")
        return Told("False", Reason.ROLLING_OUT, "agents with the new configuration are starting")

    def programmed(self, resource: Resource, asked: Entry | None) -> Told:
        """Whether the agents run what a Source, Destination or Route asks for.

        A spec that they run stays programmed while a change of another one rolls out: they all run it all the time.
        """
        entry = self.record.entries.get(resource.ref) if self.record else None
        if entry is None:
            return self._left_out()
        if not entry.is_spec_of(resource, asked):
            return Told("False", Reason.LAST_GOOD, f"the agents go on with generation {entry.generation}")
        same_spec = resource.status.get("observedGeneration") == resource.generation
        if self.rolled_out or (same_spec and was_true(resource, ConditionType.PROGRAMMED)):
            return self.runs
        return self.rollout()

    def _left_out(self) -> Told:
        if self.asked.of_box.sections.suspended:
            return Told("False", Reason.BOX_NOT_READY, "the QueueBox is suspended")
        if self.record is None and self.choice.frozen:
            return Told("False", Reason.BOX_NOT_READY, "the QueueBox is left as it is; its own conditions say why")
        if self.record is None:
            return Told("False", Reason.BOX_NOT_READY, "the QueueBox has no configuration yet")
        return Told("False", Reason.NOT_PROGRAMMED, "the configuration leaves this out")
