"""The section `destinations`: where messages go (spec pages 11, 23 and 24)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from queuebox_api.config.auth import DestinationAuth
from queuebox_api.config.block import Block, Check, Finding, Rule, Rules, matching
from queuebox_api.config.brokers import Kafka, Nats
from queuebox_api.config.fields import (
    LARGEST,
    WHOLE,
    AddressTemplate,
    BrokerUrl,
    Flag,
    HeaderName,
    HeaderValue,
    KeyTemplate,
    Millis,
    UrlPath,
)
from queuebox_api.config.kinds import Kinds
from queuebox_api.config.transform import Transform
from queuebox_api.config.urls import DOT_SEGMENT, BaseUrl, has_dot_segment

RowColumn = Literal["aggregate_type", "topic", "key"]
Headers = Annotated[dict[HeaderName, HeaderValue], Field(max_length=256)]


def _no_header_twice(destination: "DestinationBase") -> Iterator[Finding]:
    seen: set[str] = set()
    for name in destination.headers:
        if name.lower() in seen:
            yield Finding(("headers", name), "is set twice, in another letter case")
        seen.add(name.lower())


class DestinationBase(Block):
    """The keys of every destination."""

    rules: ClassVar[Rules] = (Check(_no_header_twice),)
    headers: Headers = Field(default_factory=dict)
    """Static headers on every message. A header of the row wins."""
    transform: Transform | None = None
    """Runs before the publish."""


class HttpDestination(DestinationBase):
    """Sends a `POST` with the payload as its JSON body. A 2xx status completes the delivery."""

    rules: ClassVar[Rules] = (
        Rule(
            f"!{matching(DOT_SEGMENT, 'self.path')}",
            "must not hold a . or .. segment",
            lambda it: not has_dot_segment(it.path),
            at=("path",),
        ),
    )
    type: Literal["http"] = "http"
    """The kind."""
    base_url: BaseUrl
    """An absolute `http` or `https` URL with a host, and without a user name or a password."""
    path: UrlPath = "/"
    """The path after `baseUrl`. It must not hold a `.` or a `..` segment."""
    timeout_ms: Millis = 30_000
    """The request timeout. The connect timeout is half of it."""
    auth: DestinationAuth | None = None
    """The credentials of the request."""


class RabbitMqDestination(DestinationBase):
    """Declares the exchange, publishes with the mandatory flag and waits for the confirm."""

    type: Literal["rabbitmq"] = "rabbitmq"
    """The kind."""
    url: BrokerUrl
    """The AMQP URI of the broker."""
    exchange: AddressTemplate
    """The name of the exchange, or an address template."""
    exchange_from: RowColumn | None = None
    """The row column that holds the name of the exchange. It wins over `exchange`."""
    exchange_type: Literal["topic", "direct", "fanout"] = "topic"
    """The type of the declared exchange."""
    routing_key_template: KeyTemplate = "{{ topic }}"
    """The routing key when the route sets none."""
    delivery_mode: Literal["persistent", "transient"] = "persistent"
    """Whether a message in a durable queue survives a restart of the broker."""


class KafkaDestination(DestinationBase, Kafka):
    """Publishes with `acks=all` and idempotence."""

    type: Literal["kafka"] = "kafka"
    """The kind."""
    topic: AddressTemplate
    """The Kafka topic, or an address template."""
    topic_from: RowColumn | None = None
    """The row column that holds the name of the topic. It wins over `topic`."""
    key_template: KeyTemplate = "{{ key }}"
    """The record key: `{{ key }}` and `{{ topic }}` render. An empty result sends no key."""
    timeout_ms: Annotated[int, Field(ge=2_000, le=LARGEST), WHOLE] = 30_000
    """The whole budget of a publish, with the acknowledgement. At least 2000."""


class NatsDestination(DestinationBase, Nats):
    """Publishes through JetStream, or on core NATS."""

    type: Literal["nats"] = "nats"
    """The kind."""
    subject: AddressTemplate
    """The subject, or an address template."""
    subject_from: RowColumn | None = None
    """The row column that holds the subject. It wins over `subject`."""
    jet_stream: Flag = True
    """Wait for the acknowledgement of JetStream. `false` publishes on core NATS, which has none."""
    timeout_ms: Millis = 30_000
    """The timeout of a publish."""


Destination = Annotated[
    HttpDestination | RabbitMqDestination | KafkaDestination | NatsDestination,
    Kinds("destination", (HttpDestination, RabbitMqDestination, KafkaDestination, NatsDestination)),
]
