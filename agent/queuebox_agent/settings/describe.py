"""A configuration as text for a person."""

import yaml

from queuebox_api.config import Config


def describe(config: Config) -> str:
    """`config` as YAML with every key that has a value, the defaults too. Each secret is a mask."""
    return yaml.safe_dump(
        config.model_dump(mode="json", by_alias=True, exclude_none=True), sort_keys=False, allow_unicode=True
    )
