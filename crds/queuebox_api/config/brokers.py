"""What a destination and a source of the same broker share (spec page 24)."""

from typing import ClassVar, Literal

from queuebox_api.config.block import Block, Rule, Rules, is_given, needs, not_both
from queuebox_api.config.fields import BrokerUrl, Credential, Name


def _sasl_needs(key: str) -> Rule:
    return Rule(
        f"!self.securityProtocol.startsWith('SASL_') || has(self.{key})",
        "is required by a SASL_ securityProtocol",
        lambda it: not it.security_protocol.startswith("SASL_") or is_given(it, key),
        at=(key,),
    )


class Kafka(Block):
    """A connection to Kafka."""

    rules: ClassVar[Rules] = (_sasl_needs("saslMechanism"), _sasl_needs("saslUsername"), _sasl_needs("saslPassword"))
    bootstrap_servers: Name
    """The brokers, separated by commas."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """How the client talks to the brokers."""
    sasl_mechanism: Name | None = None
    """For example `SCRAM-SHA-512`. Required by a `SASL_` protocol."""
    sasl_username: Name | None = None
    """The user. Required by a `SASL_` protocol."""
    sasl_password: Credential | None = None
    """The password. Required by a `SASL_` protocol."""


class Nats(Block):
    """A connection to NATS."""

    rules: ClassVar[Rules] = (
        needs("username", "password"),
        needs("password", "username"),
        not_both("username", "token"),
    )
    servers: BrokerUrl
    """The URLs of the servers, separated by commas."""
    username: Name | None = None
    """A user name. It needs `password`."""
    password: Credential | None = None
    """A password. It needs `username`."""
    token: Credential | None = None
    """A token, instead of a user name."""
