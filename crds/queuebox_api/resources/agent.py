"""`spec.agent`: the pods that run beside the database."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, Strict

from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.fields import Name
from queuebox_api.resources.fields import ObjectName, ObjectRef, keyed_by
from queuebox_api.resources.pod import (
    EnvVar,
    LabelValue,
    Opaque,
    QualifiedName,
    Resources,
    SpreadConstraint,
    Toleration,
    Volume,
    VolumeMount,
)

_OURS: Final = ("queuebox.dev/", "app.kubernetes.io/")
Labels = Annotated[dict[QualifiedName, LabelValue], Field(max_length=64)]
Annotations = Annotated[dict[QualifiedName, Annotated[str, Field(max_length=16_384)]], Field(max_length=64)]


def _not_ours(key: str, names: str) -> Rule:
    ours = " || ".join(f"name.startsWith('{prefix}')" for prefix in _OURS)
    return Rule(
        f"!has(self.{key}) || !self.{key}.exists(name, {ours})",
        f"must not hold names that start with {' or '.join(_OURS)}: the operator sets those",
        lambda it: not any(name.startswith(_OURS) for name in getattr(it, names)),
        at=(key,),
    )


class AgentSpec(Block):
    """The agents: how many, of which image, and how they are scheduled."""

    rules: ClassVar[Rules] = (_not_ours("labels", "labels"), _not_ours("annotations", "annotations"))
    mode: Literal["Deployment", "Sidecar"] = "Deployment"
    """`Deployment`: pods of their own. `Sidecar`: inside of the pods of the application."""
    replicas: Annotated[int, Field(ge=0, le=100), Strict()] = 1
    """How many agents run. `kubectl scale` and an autoscaler may change it."""
    image: Name | None = None
    """The image. Default: the one that the operator was installed with."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When the image is pulled. Default: as Kubernetes has it, by the tag of the image."""
    image_pull_secrets: Annotated[list[ObjectRef], Field(max_length=16, json_schema_extra=keyed_by("name"))] = Field(
        default_factory=list
    )
    """The Secrets that open the registry of the image."""
    resources: Resources | None = None
    """What an agent asks of its node and may take."""
    labels: Labels = Field(default_factory=dict)
    """Further labels of the pods."""
    annotations: Annotations = Field(default_factory=dict)
    """Further annotations of the pods."""
    node_selector: Labels = Field(default_factory=dict)
    """The labels of the nodes that agents may run on."""
    tolerations: Annotated[list[Toleration], Field(max_length=32)] = Field(default_factory=list)
    """The taints that the agents do not mind."""
    affinity: Opaque | None = None
    """Which nodes and neighbours the agents like, as in a pod: `nodeAffinity`, `podAffinity`, `podAntiAffinity`."""
    topology_spread_constraints: Annotated[list[SpreadConstraint], Field(max_length=8)] = Field(default_factory=list)
    """How evenly the agents stand. Default: over nodes and zones, as far as it goes."""
    priority_class_name: ObjectName | None = None
    """The PriorityClass of the pods."""
    service_account_name: ObjectName | None = None
    """A ServiceAccount of your own, for a cloud's workload identity. Default: one is made. No token is mounted."""
    extra_env: Annotated[list[EnvVar], Field(max_length=64, json_schema_extra=keyed_by("name"))] = Field(
        default_factory=list
    )
    """Further variables in the environment of the agents."""
    extra_volumes: Annotated[list[Volume], Field(max_length=32, json_schema_extra=keyed_by("name"))] = Field(
        default_factory=list
    )
    """Further volumes of the pods, such as a CA certificate."""
    extra_volume_mounts: Annotated[list[VolumeMount], Field(max_length=64, json_schema_extra=keyed_by("mountPath"))] = (
        Field(default_factory=list)
    )
    """Where the agents have those volumes."""
    log_format: Literal["text", "json"] = "json"
    """How the agents write their log."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """From which level on the agents write their log."""


DEFAULT_AGENT: Final[dict[str, Any]] = {"mode": "Deployment", "replicas": 1, "logFormat": "json", "logLevel": "INFO"}
"""What the API server puts for a box that says nothing of its agents: an autoscaler reads `replicas`."""
