"""What fields of the resources share: references, and texts that hold no placeholder and no credential."""

from typing import Annotated, Any, Final

from pydantic import Field

from queuebox_api.config.block import Block
from queuebox_api.config.fields import NOT_BLANK, Shape

NO_PLACEHOLDER: Final = Shape(
    r"([^$]|\$+[^${])*\$*", "must not hold ${: the agent would take it for a placeholder, and a resource has none"
)
"""Of every text that stands in the agent's file as it is: a placeholder without a value would stop the agent."""
NO_CREDENTIAL: Final = Shape("[^@]*", "must not hold an @: a URL with a user name or a password belongs in a Secret")

ObjectName = Annotated[
    str,
    Field(max_length=253),
    Shape(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        "must be the name of an object: lower case letters, digits, - and .",
    ),
]
SecretKey = Annotated[
    str,
    Field(max_length=253),
    Shape("[-._a-zA-Z0-9]+", "must be a key of a Secret: letters, digits, -, _ and ."),
]


class SecretRef(Block):
    """One key of a Secret in the same namespace. The agent gets it as a file; the operator never reads the value."""

    name: ObjectName
    """The name of the Secret."""
    key: SecretKey
    """The key in the Secret."""


class ObjectRef(Block):
    """An object in the same namespace."""

    name: ObjectName
    """The name of the object."""


PlainUrl = Annotated[str, Field(max_length=2048), NOT_BLANK, NO_PLACEHOLDER, NO_CREDENTIAL]
"""A URL that carries no credential."""


def keyed_by(key: str) -> dict[str, Any]:
    """Of a list of blocks: server-side apply knows an item by `key`, so that each item may have its own owner."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
