"""The CRDs as files: what an API server and `kubectl explain` need of them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from queuebox_api.resources import KINDS, Kind
from queuebox_api.schema import NotStructuralError, schema_of
from services.resources import ROOT, crd, places, refusals, samples, schema, set_in

LARGEST_FOR_CLIENT_SIDE_APPLY = 262_144
NAMES = [kind.name for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_client_side_apply_can_hold_a_crd(kind: Kind) -> None:
    assert (ROOT / "crds" / f"queuebox.dev_{kind.plural}.yaml").stat().st_size < LARGEST_FOR_CLIENT_SIDE_APPLY / 2


def test_the_crds_are_what_the_models_say() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "generate_crds.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_is_explained(kind: str, part: str) -> None:
    silent = [path for path, node in places(schema(kind, part)) if not path or path[-1] not in {"[]", "*"}
              if not node.get("description", "").endswith(".")]  # fmt: skip
    assert not silent


def limited(node: dict[str, Any]) -> bool:
    match node["type"]:
        case "string":
            return "maxLength" in node or "enum" in node or node.get("format") == "date-time"
        case "array":
            return "maxItems" in node
        case "integer":
            return {"minimum", "maximum", "format"} <= node.keys()
        case _:
            return node["type"] == "boolean" or "properties" in node or "maxProperties" in node


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("part", ["spec", "status"])
def test_everything_has_a_bound(kind: str, part: str) -> None:
    opaque = ("valueFrom", "*"), ("affinity", "*")
    unbounded = [path for path, node in places(schema(kind, part)) if path[-2:] not in opaque and not limited(node)]
    assert not unbounded


def ruled(kind: str) -> Iterator[tuple[str, str]]:
    """The last level and the message of each rule of a schema."""
    for path, node in places(schema(kind)):
        for rule in node.get("x-kubernetes-validations", []):
            at = rule.get("fieldPath", "").split(".")[-1] or next(
                (p for p in reversed(path) if p not in {"[]", "*"}), "."
            )
            yield at, rule["message"]


@pytest.mark.parametrize("kind", NAMES)
def test_the_table_of_refusals_breaks_every_rule(kind: str) -> None:
    broken = {
        (re.sub(r"\[.*", "", one.server_place.split(".")[-1]) or ".", one.server_words)
        for one in refusals()
        if one.change.kind == kind
    }
    transitions = "cannot be changed: make another QueueBox"
    assert {rule for rule in ruled(kind) if rule[1] != transitions and "at most" not in rule[1]} - broken == set()


@pytest.mark.parametrize("kind", NAMES)
def test_the_samples_set_every_field(kind: str) -> None:
    told = {place for one in samples() if one["kind"] == kind for _, place, _ in set_in(one["spec"], schema(kind))}
    assert {path for path, _ in places(schema(kind))} == told


@pytest.mark.parametrize("kind", NAMES)
def test_a_resource_is_found_by_its_short_name_and_category(kind: str) -> None:
    names = crd(kind)["spec"]["names"]
    assert names["shortNames"] == [next(one.short for one in KINDS if one.name == kind)]
    assert names["categories"] == ["queuebox"]


def test_no_credential_can_stand_in_a_spec() -> None:
    secret = re.compile("password|token|secret|key|headerValue", re.IGNORECASE)
    names = {
        path[-1]
        for kind in NAMES
        for path, node in places(schema(kind))
        if node["type"] == "string"
        if secret.search("".join(path[-1:]))
    }
    assert names == {
        "claimToken", "idempotencyKey", "idempotencyKeyPath", "key", "keyTemplate", "routingKeyMissingFieldDefault",
        "routingKeyTemplate", "tokenUrl", "topologyKey",
    }  # fmt: skip


def test_what_a_structural_schema_cannot_say_is_an_error_with_its_place() -> None:
    from pydantic import BaseModel  # noqa: PLC0415  for this model alone

    class Unbounded(BaseModel):
        name: str

    with pytest.raises(NotStructuralError, match=r"^spec\.name: no maxLength$"):
        schema_of(Unbounded, "spec")  # type: ignore[arg-type]  # no block
