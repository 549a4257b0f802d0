"""The rules as an API server reads them: in CEL, inside of the JSON schema."""

import re
from typing import Any

import pytest

import queuebox_api.config
from queuebox_api.config import Block, Config, Rule

MODELS = [
    model
    for name in queuebox_api.config.__all__
    if isinstance(model := getattr(queuebox_api.config, name), type) and issubclass(model, Block)
]
SPOKEN = [(model, rule) for model in MODELS for rule in model.every_rule() if isinstance(rule, Rule)]


def keys(model: type[Block]) -> set[str]:
    return {str(field.alias) for field in model.model_fields.values()}


@pytest.mark.parametrize(("model", "rule"), SPOKEN)
def test_a_rule_in_cel_reads_keys_of_its_block(model: type[Block], rule: Rule) -> None:
    read = {name.strip("_") for name in re.findall(r"self\.(\w+)", rule.cel)}
    assert read
    assert read <= keys(model)


@pytest.mark.parametrize(("model", "rule"), SPOKEN)
def test_a_rule_is_told_at_a_key_of_its_block(model: type[Block], rule: Rule) -> None:
    assert set(rule.at[:1]) <= keys(model)


def test_every_rule_in_cel_stands_in_the_schema() -> None:
    definitions: dict[str, Any] = Config.model_json_schema()["$defs"]
    for model in {model for model, _ in SPOKEN}:
        said = definitions[model.__name__]["x-kubernetes-validations"]
        assert [rule["rule"] for rule in said] == [rule.cel for rule in model.every_rule() if isinstance(rule, Rule)]


def test_a_rule_tells_the_api_server_its_field() -> None:
    server = Config.model_json_schema()["$defs"]["ServerConfig"]
    assert server["x-kubernetes-validations"] == [
        {
            "rule": "!has(self.managementPort) || self.managementPort != self.httpPort",
            "message": "must differ from httpPort",
            "fieldPath": ".managementPort",
        }
    ]


def test_limits_and_patterns_stand_in_the_schema() -> None:
    definitions = Config.model_json_schema()["$defs"]
    assert definitions["ServerConfig"]["properties"]["httpPort"] == {
        "default": 8080,
        "description": "The data port, which serves the inbox routes.",
        "maximum": 65535,
        "minimum": 1,
        "title": "Httpport",
        "type": "integer",
    }
    assert not re.search(r"'(ge|le|min_length|max_length)'", str(definitions))
    assert definitions["OutboxColumns"]["properties"]["id"]["pattern"] == "^([A-Za-z_][A-Za-z0-9_]*)$"
