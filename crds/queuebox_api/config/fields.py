"""The value formats of page 24. Each says its limits once, for Python and JSON schema, with words for a person."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from queuebox_api.config.block import matching
from queuebox_api.config.secret import Secret, SecretUrl

LARGEST: Final = 2_147_483_647
Text = TypeVar("Text", bound=str | Secret)


@dataclass(frozen=True)
class Shape:
    """A pattern that a text must match as a whole, and the words for a text that does not.

    The pattern reads the same in Python and in RE2, which an API server uses.
    """

    pattern: str
    words: str

    def check(self, value: Text) -> Text:
        """`value` as it is. Raises with `words` when it has another shape."""
        text = value.get_secret_value() if isinstance(value, Secret) else value
        if re.fullmatch(self.pattern, text) is None:
            raise PydanticCustomError("shape", self.words)
        return value

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """`pattern` for what reads JSON schema, and a rule with words for an API server; see `queuebox_api.schema`."""
        schema, pattern = handler(core), f"^({self.pattern})$"
        rule = {"rule": matching(pattern), "message": self.words}
        earlier = {"allOf": [*schema.get("allOf", []), {"pattern": schema["pattern"]}]} if "pattern" in schema else {}
        rules = [*schema.get("x-kubernetes-validations", []), rule]
        return schema | earlier | {"pattern": pattern, "x-kubernetes-validations": rules}


def _whole_number(value: object) -> int:
    """A variable and a placeholder give text; YAML gives a number."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise PydanticCustomError("whole_number", "must be a whole number")


def _true_or_false(value: object) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().lower())
    if isinstance(value, bool):
        return value
    raise PydanticCustomError("true_or_false", "must be true or false")


def _rooted(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


WHOLE: Final = BeforeValidator(_whole_number)
"""Of an int, after its limits, so that a JSON schema still has them."""
NOT_BLANK: Final = Shape(r"[\s\S]*\S[\s\S]*", "must not be blank")
DURATION: Final = Shape("[1-9][0-9]{0,8}[smhd]", "must be a whole number above 0 and one of s, m, h and d, such as 7d")
ONE_LINE: Final = Shape(r"[^\r\n\x00]*", "must not hold a line break or a NUL")

IN_FILE: Final = "may stand in a file"
"""Of a text that is no secret: `file:` and a path reads it, because it may stand in the same Secret as a password."""

Flag = Annotated[bool, BeforeValidator(_true_or_false)]
Count = Annotated[int, Field(ge=1, le=LARGEST), WHOLE]
Millis = Count
Port = Annotated[int, Field(ge=1, le=65_535), WHOLE]
Duration = Annotated[str, DURATION, Field(max_length=10)]

Words = Annotated[str, Field(max_length=4096)]
Name = Annotated[str, Field(max_length=1024), NOT_BLANK]
Identifier = Annotated[
    str,
    Field(max_length=63),
    Shape("[A-Za-z_][A-Za-z0-9_]*", "must be a SQL identifier: a letter or _ first, then letters, digits and _"),
]
CaptureName = Annotated[
    str,
    Shape(
        "[a-z][a-z0-9_]{0,62}", "must be a lower case letter, then lower case letters, digits and _, at most 63 in all"
    ),
    Field(max_length=63),
]
HeaderName = Annotated[
    str,
    Field(max_length=256),
    Shape("[!#$%&'*+.^_`|~0-9A-Za-z-]+", "must be a header name: letters, digits and !#$%&'*+-.^_`|~, without spaces"),
]
HeaderValue = Annotated[str, Field(max_length=8192), ONE_LINE]
UrlPath = Annotated[
    str,
    Field(max_length=2048),
    Shape(r"[^\s\x00-\x1f#]*", "must be a path without spaces or #"),
    AfterValidator(_rooted),
]
TopicPattern = Annotated[
    str,
    Field(max_length=255),
    NOT_BLANK,
    Shape(r"([^*]|\*{1,2}([^*]|$))*", "must not hold ***: * is one segment, ** is any text"),
]
JsonPath = Annotated[
    str,
    Field(max_length=1024),
    Shape(
        r"""\$(\.[^.\[\]*?(),:@'"\s]+|\[-?[0-9]+\]|\['[^']*'\]|\["[^"]*"\])*""",
        "must be a JSONPath of one place: $, then .name, ['name'] or [0]; not .., *, a filter, a slice or a list",
    ),
]
AddressTemplate = Annotated[
    str,
    Field(max_length=1024),
    NOT_BLANK,
    Shape(
        r"([^{]|\{[^{]|\{\{\s*(topic|key|aggregateType|(payload|data)\.[^{}\s]+)\s*\}\})*\{?",
        "must hold no placeholder but {{ topic }}, {{ key }}, {{ aggregateType }}, {{ payload.x }} and {{ data.x }}",
    ),
]
KeyTemplate = Annotated[str, Field(max_length=1024)]

Credential = Annotated[Secret, NOT_BLANK]
"""A secret that must hold something."""
CredentialHeader = Annotated[Secret, NOT_BLANK, ONE_LINE]
"""A secret that is the value of a header."""
BrokerUrl = Annotated[SecretUrl, NOT_BLANK]
"""One or more URLs of a broker, which may carry a password."""
