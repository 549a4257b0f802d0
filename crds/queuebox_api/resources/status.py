"""What the operator writes into `status`."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from queuebox_api.config.block import Block
from queuebox_api.resources.conditions import ConditionType, Reason
from queuebox_api.resources.fields import keyed_by

PENDING: Final[dict[str, Any]] = {
    "type": str(ConditionType.READY),
    "status": "Unknown",
    "reason": str(Reason.PENDING),
    "message": "waits for the operator",
    "lastTransitionTime": "1970-01-01T00:00:00Z",
}
"""What an object is shown with before the operator has looked at it."""

Number = Annotated[int, Field(ge=0, le=9_007_199_254_740_991)]


class Condition(Block):
    """One fact about the object."""

    type: Annotated[str, Field(max_length=316)]
    """What the fact is about: Accepted, ResolvedRefs, Programmed, Ready, Reconciling or Stalled."""
    status: Literal["True", "False", "Unknown"]
    """Whether it is so."""
    reason: Annotated[str, Field(min_length=1, max_length=1024, pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    """Why, in one word for a program."""
    message: Annotated[str, Field(max_length=32_768)]
    """Why, for a person."""
    observed_generation: Number | None = None
    """The generation of the spec that this speaks of."""
    last_transition_time: datetime
    """When `status` last changed."""


class Status(Block):
    """What the operator found and did. Written by the operator alone."""

    observed_generation: Annotated[int, Field(ge=-1, le=9_007_199_254_740_991)] = -1
    """The generation of the spec that this speaks of; -1 when the operator has not seen the object yet."""
    conditions: Annotated[
        list[Condition],
        Field(max_length=16, json_schema_extra={"default": [PENDING], **keyed_by("type")}),
    ] = Field(default_factory=list)
    """Accepted, ResolvedRefs, Programmed and Ready; Reconciling and Stalled while they hold."""


class RouteStatus(Status):
    """What the operator found and did. Written by the operator alone."""

    shadowed_by: Annotated[str, Field(max_length=253)] | None = None
    """The Route that is tested earlier and takes every topic of this one, so that this one never gets a row."""


class DestinationState(Block):
    """How a destination does, as the agents report it."""

    name: Annotated[str, Field(max_length=253)]
    """The name of the Destination."""
    state: Annotated[str, Field(max_length=64)]
    """Delivering, Failing or Idle."""


class QueueBoxStatus(Status):
    """What the operator found and did, and what the agents report. Written by the operator alone."""

    replicas: Number = 0
    """How many agents there are."""
    ready_replicas: Number = 0
    """How many agents are ready."""
    selector: Annotated[str, Field(max_length=1024)] = ""
    """The label selector of the agents, for the scale subresource."""
    sources: Number = 0
    """How many sources the configuration of the agents holds."""
    destinations: Number = 0
    """How many destinations the configuration of the agents holds."""
    routes: Number = 0
    """How many routes the configuration of the agents holds."""
    config_hash: Annotated[str, Field(max_length=64)] | None = None
    """The configuration that was rendered last, as the annotation `queuebox.dev/config-hash` of the agents names it."""
    pending: Number | None = None
    """Outbox rows that wait, as the agents reported them last."""
    dead: Number | None = None
    """Outbox rows that went dead since the agents started, as the agents reported them last."""
    oldest_pending_seconds: Number | None = None
    """The age of the oldest row that waits, in whole seconds, as the agents reported it last."""
    destination_states: Annotated[
        list[DestinationState], Field(max_length=1000, json_schema_extra=keyed_by("name"))
    ] = Field(default_factory=list)
    """How each destination does, as the agents reported it last."""
