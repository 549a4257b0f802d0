"""The section `sources`: where messages come from (spec pages 08 and 24)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from queuebox_api.config.auth import RequestAuth
from queuebox_api.config.block import Block, Rule, Rules
from queuebox_api.config.brokers import Kafka, Nats
from queuebox_api.config.fields import WHOLE, BrokerUrl, Count, Flag, JsonPath, Millis, Name, UrlPath, Words
from queuebox_api.config.filter import Filter
from queuebox_api.config.kinds import Kinds
from queuebox_api.config.transform import Transform


class RateLimit(Block):
    """The limit of an HTTP source. The other kinds ignore it."""

    requests_per_minute: Count
    """A request over the limit gets 429."""


class SourceBase(Block):
    """The keys of every source."""

    rules: ClassVar[Rules] = (
        Rule(
            r"self.consumption == 'pull' || self.topic.matches('\\S')",
            "must not be blank on a push source",
            lambda it: it.consumption == "pull" or bool(it.topic.strip()),
            at=("topic",),
        ),
    )
    consumption: Literal["push", "pull"] = "push"
    """`push`: the relay copies the row into the outbox. `pull`: a pull client claims it."""
    topic: Words = "{{ source }}"
    """The outbox topic that the relay writes. `{{ source }}` and `{{ eventType }}` render."""
    idempotency_key_path: JsonPath = "$.id"
    """The JSONPath of the idempotency key in the body."""
    aggregate_id_path: JsonPath | None = None
    """The JSONPath of the aggregate, which becomes the outbox `key`."""
    event_type_path: JsonPath | None = None
    """The JSONPath of the event type."""
    transform: Transform | None = None
    """Runs before the store."""
    filter: Filter | None = None
    """Leaves out messages by their headers."""
    rate_limit: RateLimit | None = None
    """The request limit of an HTTP source."""


class HttpSource(SourceBase):
    """Answers `POST` at `inbox.basePath` followed by `path`."""

    rules: ClassVar[Rules] = (
        Rule(
            "self.consumption == 'pull' || !self.topic.contains('eventType') || has(self.eventTypePath)",
            "is required, because topic reads {{ eventType }}",
            lambda it: it.consumption == "pull" or "eventType" not in it.topic or it.event_type_path is not None,
            at=("eventTypePath",),
        ),
    )
    type: Literal["http"] = "http"
    """The kind."""
    topic: Words = "{{ eventType }}"
    """The outbox topic that the relay writes. `{{ source }}` and `{{ eventType }}` render."""
    path: UrlPath
    """The path after `inbox.basePath`."""
    idempotency_key_path: JsonPath
    """The JSONPath of the idempotency key. A request without a value there gets 400."""
    auth: RequestAuth | None = None
    """What each request must carry."""


class AttributeHeaders(Block):
    """The message headers that carry the three attributes."""

    idempotency_key: Name = "x-idempotency-key"
    """The idempotency key. It comes before `idempotencyKeyPath`."""
    aggregate_id: Name = "x-aggregate-id"
    """The aggregate. It comes after `aggregateIdPath`."""
    event_type: Name = "x-event-type"
    """The event type. It comes after `eventTypePath`."""


class BrokerSource(SourceBase):
    """The keys of every source that reads a broker."""

    rules: ClassVar[Rules] = (
        Rule(
            "self.consumption == 'pull' || !self.topic.contains('eventType') || has(self.eventTypePath) "
            "|| self.eventTypeFromHeader",
            "set eventTypePath, or eventTypeFromHeader: true, because topic reads {{ eventType }}",
            lambda it: (
                it.consumption == "pull"
                or "eventType" not in it.topic
                or it.event_type_path is not None
                or it.event_type_from_header
            ),
            at=("eventTypePath",),
        ),
    )
    event_type_from_header: Flag = False
    """Every publisher sets the header of the event type."""
    attribute_headers: AttributeHeaders = AttributeHeaders()
    """The names of the three attribute headers."""


class RabbitMqSource(BrokerSource):
    """Acknowledges a delivery after the commit that holds its row."""

    type: Literal["rabbitmq"] = "rabbitmq"
    """The kind."""
    queue_name: Name
    """The queue to consume."""
    connection_url: BrokerUrl
    """The AMQP URI of the broker."""
    prefetch_count: Annotated[int, Field(ge=1, le=65_535), WHOLE] = 10
    """The largest number of unacknowledged deliveries."""
    declare_queue: Flag = False
    """Declare the queue as durable before the consumer starts. `false`: a missing queue fails the start."""


class KafkaSource(BrokerSource, Kafka):
    """Commits an offset after the commit that holds its row. Replicas with the same `groupId` share the partitions."""

    type: Literal["kafka"] = "kafka"
    """The kind."""
    topics: Annotated[tuple[Name, ...], Field(min_length=1, max_length=256)]
    """The topics. One consumer reads them all."""
    group_id: Name
    """The consumer group."""
    auto_offset_reset: Literal["earliest", "latest"] = "earliest"
    """Where a new group starts."""
    max_poll_records: Count = 100
    """The largest number of records of one poll."""


class NatsSource(BrokerSource, Nats):
    """Reads a JetStream stream, which must exist, through a durable consumer."""

    type: Literal["nats"] = "nats"
    """The kind."""
    stream: Name
    """The stream."""
    durable: Name
    """The durable consumer. Replicas with the same name share the work."""
    filter_subject: Name | None = None
    """A subject filter. Without one, every subject of the stream is read."""
    ack_wait_ms: Millis = 30_000
    """How long the server waits for the acknowledgement before it delivers again."""
    batch_size: Count = 100
    """The largest number of messages of one fetch."""


Source = Annotated[
    HttpSource | RabbitMqSource | KafkaSource | NatsSource,
    Kinds("source", (HttpSource, RabbitMqSource, KafkaSource, NatsSource), otherwise=HttpSource),
]
