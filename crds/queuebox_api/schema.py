"""The models of the custom resources as CustomResourceDefinitions with structural schemas. Pure: it makes JSON.

A structural schema allows a small part of JSON schema. What is allowed is copied, what has an equivalent is rewritten,
and anything else is an error that names its place, so that a CRD that an API server would refuse is never written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from queuebox_api.config.block import Block
from queuebox_api.resources.kinds import CATEGORY, GROUP, VERSION, Column, Kind

Schema = dict[str, Any]

_KEPT: Final = frozenset({
    "type", "description", "format", "default", "enum", "pattern", "allOf", "minLength", "maxLength", "minimum",
    "maximum", "minItems", "maxItems", "minProperties", "maxProperties", "required", "x-kubernetes-validations",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-preserve-unknown-fields",
})  # fmt: skip
_REWRITTEN: Final = frozenset({
    "const", "properties", "items", "additionalProperties", "patternProperties", "propertyNames",
})  # fmt: skip
_DROPPED: Final = frozenset({"title"})
_FIRST: Final = ("description", "type", "format", "default", "enum")
_LARGEST_INT32: Final = 2_147_483_647
_NOT_SEEN: Final = {"observedGeneration": -1}
_META: Final[Schema] = {
    "apiVersion": {"type": "string", "description": "The group and version of this object: queuebox.dev/v1alpha1."},
    "kind": {"type": "string", "description": "The kind of this object."},
    "metadata": {"type": "object"},
}


class NotStructuralError(Exception):
    """A model says what a structural schema cannot."""


def definition(kind: Kind) -> Schema:
    """The CustomResourceDefinition of `kind`."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}", "labels": {"app.kubernetes.io/part-of": CATEGORY}},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.name.lower(),
                "shortNames": [kind.short],
                "categories": [CATEGORY],
            },
            "versions": [_version(kind)],
        },
    }


def _version(kind: Kind) -> Schema:
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [_column(column) for column in kind.columns],
        "schema": {"openAPIV3Schema": _object(kind)},
        "subresources": {"status": {}, **({"scale": dict(kind.scale)} if kind.scale else {})},
    }
    selectable = [{"jsonPath": path} for path in kind.selectable]
    return {**version, "selectableFields": selectable} if selectable else version


def _column(column: Column) -> Schema:
    wide = {"priority": 1} if column.wide else {}
    return {"name": column.name, "type": column.type, "jsonPath": column.path, **wide}


def _object(kind: Kind) -> Schema:
    rules = [{"rule": rule.cel, "message": rule.message} for rule in kind.rules]
    return {
        "description": kind.text,
        "type": "object",
        "required": ["spec"],
        "properties": {
            **_META,
            "spec": schema_of(kind.spec, "spec"),
            "status": {**schema_of(kind.status, "status"), "default": _NOT_SEEN},
        },
        **({"x-kubernetes-validations": rules} if rules else {}),
    }


def schema_of(model: type[Block], path: str) -> Schema:
    """The structural schema of `model`; `path` is its place, for errors."""
    schema = model.model_json_schema(by_alias=True)
    return _Structural(schema.pop("$defs", {})).schema(schema, path)


@dataclass(frozen=True)
class _Structural:
    definitions: Mapping[str, Schema]

    def schema(self, given: Schema, path: str, *, repeated: bool = False) -> Schema:
        """`given` as a structural schema; `repeated` inside of a list or a map."""
        node = self._flat(given, path)
        if unknown := node.keys() - _KEPT - _REWRITTEN - _DROPPED:
            raise NotStructuralError(f"{path}: {', '.join(sorted(unknown))} is not allowed in a structural schema")
        out = {key: value for key, value in node.items() if key in _KEPT}
        out |= self._below(node, path, repeated=repeated)
        _say_names(node, out)
        _say_shapes(out, repeated=repeated)
        _say_enum(node, out)
        _settle_default(out)
        _check_bounds(out, path)
        return _ordered(out)

    def _flat(self, given: Schema, path: str) -> Schema:
        """References in place, and `X | None` as X; what is said at the place of use wins."""
        node = given
        while "$ref" in node or "anyOf" in node:
            if "$ref" in node:
                target = self.definitions[node["$ref"].rsplit("/", 1)[1]]
            else:
                choices = [choice for choice in node["anyOf"] if choice.get("type") != "null"]
                if len(choices) != 1:
                    raise NotStructuralError(f"{path}: a union of types; a resource has one optional block for each")
                target = choices[0]
            node = {**target, **{key: value for key, value in node.items() if key not in {"$ref", "anyOf"}}}
        return node

    def _below(self, node: Schema, path: str, *, repeated: bool) -> Schema:
        out: Schema = {}
        if "properties" in node:
            children = node["properties"].items()
            out["properties"] = {
                name: self.schema(child, f"{path}.{name}", repeated=repeated) for name, child in children
            }
        if "items" in node:
            out["items"] = self.schema(node["items"], f"{path}[]", repeated=True)
        values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        if isinstance(values[0], dict):
            out["additionalProperties"] = self.schema(values[0], f"{path}.*", repeated=True)
        return out


def _say_names(node: Schema, out: Schema) -> None:
    """What holds for the names in a map, which a structural schema can only say as a rule."""
    names = node.get("propertyNames", {})
    rules = list(out.get("x-kubernetes-validations", []))
    if "maxLength" in names:
        longest = names["maxLength"]
        rules.append(
            {
                "rule": f"self.all(name, name.size() <= {longest})",
                "message": f"a name is at most {longest} characters long",
            }
        )
    for rule in names.get("x-kubernetes-validations", []):
        cel = rule["rule"].replace("self.", "name.", 1)
        rules.append({"rule": f"self.all(name, {cel})", "message": f"a name {rule['message']}"})
    if rules:
        out["x-kubernetes-validations"] = rules


def _say_shapes(out: Schema, *, repeated: bool) -> None:
    """A shape is a rule, which has words, or a pattern where a rule would cost too much: as often as a list is long."""
    if out.get("type") == "string" and "x-kubernetes-validations" in out:
        for key in ["x-kubernetes-validations"] if repeated else ["pattern", "allOf"]:
            out.pop(key, None)


def _say_enum(node: Schema, out: Schema) -> None:
    if "const" in node:
        out["enum"] = [node["const"]]


def _settle_default(out: Schema) -> None:
    """An empty list, an empty map and None are what is not there."""
    if out.get("default", ...) in (None, [], {}):
        del out["default"]


def _check_bounds(out: Schema, path: str) -> None:
    """Everything has a bound: an API server reckons from them what a rule costs at most."""
    kind = out.get("type")
    bound = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}.get(str(kind))
    if kind == "object" and "properties" not in out:
        bound = "maxProperties"
    if kind == "string" and (out.get("format") == "date-time" or "enum" in out):
        bound = None
    if bound and bound not in out:
        raise NotStructuralError(f"{path}: no {bound}")
    if kind == "integer":
        out.setdefault("format", "int32" if out["maximum"] <= _LARGEST_INT32 else "int64")


def _ordered(out: Schema) -> Schema:
    return {key: out[key] for key in (*_FIRST, *sorted(out.keys() - set(_FIRST))) if key in out}
