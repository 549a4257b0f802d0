"""Text that is never printed: not by str, not by repr, not by a dump."""

import re
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, SecretStr
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

_HOST: Final = r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.:-]*://)"
    r"(?:(?P<user>[^:@/?;#\s]*)(?P<password>:[^@/?;#\s]*)?@)?"
    rf"(?P<place>{_HOST}(?:,{_HOST})*(?:/[^@?;#:&=\s]*)?)"
    r"(?P<parameters>[?;][^@]*)?"
)
"""Strict, so that a URL that could be read in two ways is masked whole."""


class Secret(SecretStr):
    """A credential. It prints as `Secret(***)`, or `Secret(empty)` when there is none (spec page 23)."""

    @property
    def mask(self) -> str:
        """What stands for the value wherever it would be printed."""
        return "Secret(***)" if self.get_secret_value() else "Secret(empty)"

    @override
    def __str__(self) -> str:
        return self.mask

    @override
    def __repr__(self) -> str:
        return self.mask

    @classmethod
    @override
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.no_info_before_validator_function(_unwrapped, core_schema.str_schema())
        return core_schema.no_info_after_validator_function(
            cls, text, serialization=core_schema.to_string_ser_schema(when_used="always")
        )


class SecretUrl(Secret):
    """A URL that may carry a password. It prints with the password and the parameters masked."""

    @property
    @override
    def mask(self) -> str:
        url = _URL.fullmatch(self.get_secret_value())
        if url is None:
            return super().mask
        user = "" if url["user"] is None else f"{url['user']}:***@" if url["password"] else "***@"
        parameters = f"{url['parameters'][0]}***" if url["parameters"] else ""
        return f"{url['scheme']}{user}{url['place']}{parameters}"


def _unwrapped(value: Any) -> Any:  # noqa: ANN401  whatever was given for the key
    return value.get_secret_value() if isinstance(value, SecretStr) else value
