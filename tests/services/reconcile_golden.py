"""Golden behaviours of a reconcile: the steps of an input.yaml, and the last plan as output.yaml shows it.

Run as a program, it writes every output.yaml again: look at the difference before you keep it.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from queuebox_operator.facts import AgentReport, Ref, RefusedAgent, SecretFact, Workload
from queuebox_operator.plan import Plan
from queuebox_operator.record import canonical
from services.box_world import NAMESPACE, World

ROOT = Path(__file__).parents[1] / "golden" / "operator"
BEHAVIOURS = sorted(path.name for path in ROOT.iterdir() if path.is_dir()) if ROOT.is_dir() else []


def outcome(behaviour: str) -> dict[str, Any]:
    """What the last step of a behaviour leads to."""
    world, last = _carried_out(behaviour)
    return shown(world, last, manifests=_input(behaviour).get("show") == "manifests")


def expected(behaviour: str) -> Any:
    return yaml.safe_load((ROOT / behaviour / "output.yaml").read_text(encoding="utf-8"))


def shown(world: World, made: Plan, *, manifests: bool) -> dict[str, Any]:
    """A plan for a person: manifests by name or in full, conditions as one line each."""
    whole: dict[str, Any] = {
        "apply": [dict(it) if manifests else f"{it['kind']}/{it['metadata']['name']}" for it in made.apply],
        "delete": [_named(ref) for ref in made.delete],
        "statuses": {_named(ref): _status(status) for ref, status in sorted(made.statuses.items())},
        "happenings": [f"{it.type} {_named(it.about)} {it.reason}: {it.message}" for it in made.happenings],
    }
    if not manifests:
        whole["agentsRead"] = world.config()
    return {key: value for key, value in whole.items() if value}


def _input(behaviour: str) -> Any:
    return yaml.safe_load((ROOT / behaviour / "input.yaml").read_text(encoding="utf-8"))


def _carried_out(behaviour: str) -> tuple[World, Plan]:
    world, last = World(), Plan()
    for step in _input(behaviour)["steps"]:
        _take(world, step)
        last = world.settle() if step.get("rolledOut") else world.reconcile()
    return world, last


def _take(world: World, step: Mapping[str, Any]) -> None:
    for name, spec in step.get("put", {}).items():
        kind, _, name_of = name.partition("/")
        world.put(kind, name_of, spec)
    for name in step.get("remove", ()):
        kind, _, name_of = name.partition("/")
        world.remove(Ref(kind, NAMESPACE, name_of))
    for name, secret in step.get("secrets", {}).items():
        _put_secret(world, name, secret)
    if report := step.get("report"):
        world.report = AgentReport(**report)
    if changes := step.get("workload"):
        world.workload = Workload(**changes)
    if refused := step.get("refusedAgent"):
        world.refused_agent = RefusedAgent(**refused)
    world.apply_problem = step.get("applyProblem", world.apply_problem)


def _put_secret(world: World, name: str, secret: Mapping[str, Any] | None) -> None:
    if secret is None:
        del world.secrets[name]
    else:
        keys = frozenset(secret["keys"]) if "keys" in secret else None
        world.secrets[name] = SecretFact(name, str(secret["version"]), keys)


def _named(ref: Ref) -> str:
    return f"{ref.kind}/{ref.name}"


def _status(status: Mapping[str, Any]) -> dict[str, Any]:
    lines = {
        it["type"]: f"{it['status']} {it['reason']} since {it['lastTransitionTime'][11:16]}: {it['message']}"
        for it in status["conditions"]
    }
    return {**status, "conditions": lines}


def rollouts() -> dict[str, str]:
    """What makes Kubernetes roll agents: a digest of the pod template, for each behaviour that has one."""
    found = {}
    for behaviour in BEHAVIOURS:
        _, made = _carried_out(behaviour)
        for manifest in made.apply:
            if manifest["kind"] == "Deployment":
                found[behaviour] = sha256(canonical(manifest["spec"]["template"]).encode()).hexdigest()[:16]
    return found


def expected_rollouts() -> Any:
    return yaml.safe_load((ROOT / "rollouts.yaml").read_text(encoding="utf-8"))


def write() -> None:
    """Write what is expected again."""
    for name in BEHAVIOURS:
        text = yaml.safe_dump(outcome(name), sort_keys=False, width=120, allow_unicode=True)
        (ROOT / name / "output.yaml").write_text(text, encoding="utf-8")
    (ROOT / "rollouts.yaml").write_text(yaml.safe_dump(rollouts()), encoding="utf-8")


if __name__ == "__main__":
    write()
