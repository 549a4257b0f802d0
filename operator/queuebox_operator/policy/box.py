"""What is wrong with a QueueBox on its own. `agent` and the other sections are judged apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from queuebox_api.config import Finding
from queuebox_api.resources import Reason, check
from queuebox_operator.facts import RefusedAgent, Resource
from queuebox_operator.policy.verdict import Refusal, Secrets, Verdict, judged, keys_in, told

SIDECAR: Final = Finding(("agent", "mode"), "asks for Sidecar, which this version cannot do yet")


@dataclass(frozen=True, slots=True)
class BoxVerdict:
    """Of the sections, and of the agents."""

    sections: Verdict
    agent: Mapping[str, Any] | None
    """`spec.agent` when it is sound; None when the last good one stays."""
    agent_refused: Refusal | None = None

    @property
    def refused(self) -> Refusal | None:
        """What is wrong anywhere in the spec."""
        return self.sections.refused or self.agent_refused


def judge(box: Resource, secrets: Secrets, refused: RefusedAgent | None = None) -> BoxVerdict:
    """Whether its sections can be those of the configuration, and whether its agents can run.

    `refused` is what the API server did not take: until it is edited it is not tried again.
    """
    findings = check("QueueBox", box.spec, keys_in(secrets))
    of_agent = [finding for finding in findings if finding.path[:1] == ("agent",)]
    sections = judged(box, secrets, (), [finding for finding in findings if finding not in of_agent])
    agent = box.spec.get("agent") or {}
    if of_agent:
        return BoxVerdict(sections, None, Refusal(Reason.INVALID, told(of_agent)))
    if agent.get("mode") == "Sidecar":
        return BoxVerdict(sections, None, Refusal(Reason.UNSUPPORTED, told([SIDECAR])))
    if refused and refused.agent == agent:
        return BoxVerdict(sections, None, Refusal(Reason.APPLY_FAILED, refused.message))
    return BoxVerdict(sections, agent)
