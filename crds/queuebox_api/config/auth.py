"""The two `auth` blocks: what a request to QueueBox carries, and what a request of QueueBox does (pages 07 and 24)."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.fields import (
    ONE_LINE,
    Credential,
    CredentialHeader,
    HeaderName,
    Millis,
    Name,
    Words,
)
from queuebox_api.config.kinds import Kinds
from queuebox_api.config.secret import Secret
from queuebox_api.config.urls import HttpUrl


class BearerAuth(Block):
    """The request sends `Authorization: Bearer` and the token. The scheme matches in any letter case."""

    type: Literal["bearer"] = "bearer"
    """The kind."""
    token: Credential
    """The token."""


class ApiKeyAuth(Block):
    """The request sends the key in a header."""

    type: Literal["api-key"] = "api-key"
    """The kind."""
    key: Credential
    """The key."""
    header_name: HeaderName = "X-API-Key"
    """The header that carries the key."""


def _payload_format(value: Any) -> Any:  # noqa: ANN401  whatever was given for the key
    return value.strip().lower().replace("_", "-") if isinstance(value, str) else value


class HmacAuth(Block):
    """The request carries a signature of its body."""

    rules: ClassVar[Rules] = (
        Rule(
            "!has(self.signaturePayloadFormat) || self.signaturePayloadFormat == 'body' || has(self.timestampHeader)",
            "is required by signaturePayloadFormat timestamp-dot-body",
            lambda it: it.signature_payload_format != "timestamp-dot-body" or it.timestamp_header is not None,
            at=("timestampHeader",),
        ),
    )
    type: Literal["hmac"] = "hmac"
    """The kind."""
    secret: Credential
    """The HMAC key."""
    header_name: HeaderName = "X-Signature"
    """The header that carries the signature."""
    algorithm: Literal["HmacSHA256", "HmacSHA512"] = "HmacSHA256"
    """The digest."""
    signature_prefix: Annotated[str, Field(max_length=256), ONE_LINE] = "sha256="
    """The text in front of the hexadecimal signature."""
    timestamp_header: HeaderName | None = None
    """A header that carries the time of the request, in Unix milliseconds."""
    timestamp_tolerance: Millis = 300_000
    """The largest difference between the time of the request and the clock, in milliseconds."""
    signature_payload_format: Annotated[
        Literal["body", "timestamp-dot-body"] | None, BeforeValidator(_payload_format)
    ] = None
    """What is signed: `body`, or `timestamp-dot-body`. Any letter case, and `_` for `-`, is accepted.
    Default: `timestamp-dot-body` with a `timestampHeader`, otherwise `body`."""

    @property
    def signs_timestamp(self) -> bool:
        """Whether the signature covers the timestamp and a dot in front of the body."""
        return (self.signature_payload_format or "timestamp-dot-body") != "body" and self.timestamp_header is not None


class OAuth2Auth(Block):
    """The client credentials grant. A request carries the cached token as `Authorization: Bearer`."""

    type: Literal["oauth2"] = "oauth2"
    """The kind."""
    client_id: Name
    """The client identifier."""
    client_secret: Credential
    """The client secret."""
    token_url: HttpUrl
    """The token endpoint. The rules of `baseUrl` hold, but it may have a query."""
    scope: Name | None = None
    """The parameter `scope` of the token request."""
    extra_params: Annotated[dict[Name, Words], Field(max_length=64)] = Field(default_factory=dict)
    """Further form parameters of the token request."""


class BasicAuth(Block):
    """HTTP Basic authentication."""

    type: Literal["basic"] = "basic"
    """The kind."""
    username: Name
    """The user name."""
    password: Secret
    """The password. It may be empty."""


class HeaderAuth(Block):
    """A header that carries a credential."""

    type: Literal["header"] = "header"
    """The kind."""
    header_name: HeaderName = "Authorization"
    """The name of the header."""
    header_value: CredentialHeader
    """The whole value of the header."""


RequestAuth = Annotated[BearerAuth | ApiKeyAuth | HmacAuth, Kinds("auth block", (BearerAuth, ApiKeyAuth, HmacAuth))]
"""What a request to QueueBox must carry: the `auth` of an HTTP source and of `admin`."""

DestinationAuth = Annotated[
    OAuth2Auth | BasicAuth | HeaderAuth, Kinds("auth block", (OAuth2Auth, BasicAuth, HeaderAuth))
]
"""What a request of QueueBox carries: the `auth` of an HTTP destination."""
