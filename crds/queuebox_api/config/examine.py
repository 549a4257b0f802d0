"""Everything that is wrong with a configuration, at once and in words."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from queuebox_api.config.block import Finding
from queuebox_api.config.kinds import keys_of, listed, unknown_key
from queuebox_api.config.partial import broken_rules, readable
from queuebox_api.config.root import Config
from queuebox_api.config.structure import ROOT, Node, Section, below, model_of
from queuebox_api.names import Path

_WORDS: Final = {
    "missing": "is required",
    "string_type": "must be text: put it in quotes",
    "literal_error": "must be exactly {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_long": "must be at most {max_length} characters long",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entry",
    "dict_type": "must be a block of keys",
    "model_type": "must be a block of keys",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
}


def examine(tree: Mapping[str, object]) -> tuple[Config, list[Finding]]:
    """The configuration that `tree` holds, with camelCase keys as on page 24, and everything that is wrong with it.

    With a finding, the configuration is not whole: reading what is wrong raises UnreadableError.
    """
    try:
        return Config.model_validate(tree), []
    except ValidationError as error:
        lines = error.errors(include_url=False, include_input=False)
    findings = [Finding(_place(line), _text(line, tree)) for line in lines]
    config = readable(ROOT, tree, {finding.path for finding in findings})
    return config, list(dict.fromkeys([*findings, *broken_rules(config)]))


def _place(line: ErrorDetails) -> Path:
    """An error of a name in a map has a mark behind the path, which is also a possible name."""
    of_name = line["loc"][-1:] == ("[key]",) and line["type"] != "extra_forbidden"
    return line["loc"][:-1] if of_name else line["loc"]


def in_words(line: ErrorDetails) -> str:
    """An error of pydantic for a person. It quotes no value."""
    if words := _WORDS.get(line["type"]):
        context = {name: str(value).replace("'", "") for name, value in line.get("ctx", {}).items()}
        return words.format_map(context)
    return f"the name {line['msg']}" if line["loc"][-1:] == ("[key]",) else line["msg"]


def _text(line: ErrorDetails, tree: Mapping[str, object]) -> str:
    return _unknown_key(line["loc"], tree) if line["type"] == "extra_forbidden" else in_words(line)


def _unknown_key(path: Path, tree: Mapping[str, object]) -> str:
    key = str(path[-1])
    section, block = _at(path[:-1], tree)
    model = model_of(section, block)
    if section.kinds and (owners := section.kinds.owners(key)):
        kind = model.model_fields["type"].default
        return f"is a key of type {listed(owners)}, and this {section.kinds.entry} is of type {kind}"
    return unknown_key(key, keys_of(model))


def _at(path: Path, tree: Mapping[str, object]) -> tuple[Section, Mapping[str, object]]:
    node: Node | None = ROOT
    value: Any = tree
    for level in path:
        node, value = below(node, level) if node else None, value[level]
    if not isinstance(node, Section):
        raise TypeError("only a block of keys has unknown keys")
    return node, value
