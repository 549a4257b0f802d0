"""How far the agents of a box are with its configuration."""

from dataclasses import dataclass
from functools import cached_property

from queuebox_api.resources import ConditionType, Reason
from queuebox_operator.facts import Resource, Workload
from queuebox_operator.policy.choice import Asked, Choice
from queuebox_operator.record import Entry, Record
from queuebox_operator.status.conditions import Told, was_true

PROGRAMMED = Told("True", Reason.PROGRAMMED, "the agents run this spec")


@dataclass(frozen=True)
class Situation:
    """What the statuses of a box and of its resources are told from."""

    asked: Asked
    choice: Choice
    record: Record | None
    """What the agents are given now; None when there is nothing to give."""
    workload: Workload | None
    apply_problem: str = ""

    @cached_property
    def hash(self) -> str:
        """Of the record."""
        return self.record.hash() if self.record else ""

    @cached_property
    def replicas(self) -> int:
        """How many agents there shall be."""
        return self.record.replicas() if self.record else 0

    @cached_property
    def rolled_out(self) -> bool:
        """Whether every agent has the configuration. Without any agent the workload has it."""
        it = self.workload
        if it is None or it.config_hash != self.hash or it.observed_generation < it.generation:
            return False
        return it.replicas == it.updated == self.replicas and it.available >= it.updated

    def rollout(self) -> Told:
        """How far a change is that is not with every agent yet."""
        if self.apply_problem:
            return Told("False", Reason.APPLY_FAILED, self.apply_problem)
        if self.workload and self.workload.problem:
            return Told("False", Reason.ROLLOUT_FAILED, self.workload.problem)
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
            return PROGRAMMED
        return self.rollout()

    def _left_out(self) -> Told:
        if self.record is None:
            return Told("False", Reason.BOX_NOT_READY, "the QueueBox has no configuration yet")
        if self.asked.of_box.sections.suspended:
            return Told("False", Reason.BOX_NOT_READY, "the QueueBox is suspended")
        return Told("False", Reason.NOT_PROGRAMMED, "the configuration leaves this out")
