"""The models of queuebox.yml (spec page 24): one file a section, `Config` is the whole."""

from queuebox_api.config.admin import AdminConfig
from queuebox_api.config.auth import ApiKeyAuth, BasicAuth, BearerAuth, HeaderAuth, HmacAuth, OAuth2Auth
from queuebox_api.config.block import Block, Check, Finding, Rule
from queuebox_api.config.capture import CaptureConfig, CaptureConnection
from queuebox_api.config.columns import ColumnMapping, InboxColumns, OutboxColumns
from queuebox_api.config.database import DatabaseConfig
from queuebox_api.config.destinations import (
    Destination,
    HttpDestination,
    KafkaDestination,
    NatsDestination,
    RabbitMqDestination,
)
from queuebox_api.config.filter import Filter, HeaderRule
from queuebox_api.config.http import HttpConfig
from queuebox_api.config.inbox import InboxConfig, RelayConfig
from queuebox_api.config.outbox import OutboxConfig
from queuebox_api.config.retention import InboxRetention, OutboxRetention, RetentionConfig
from queuebox_api.config.root import Config
from queuebox_api.config.routes import Route
from queuebox_api.config.secret import Secret, SecretUrl
from queuebox_api.config.server import ServerConfig
from queuebox_api.config.sources import (
    AttributeHeaders,
    HttpSource,
    KafkaSource,
    NatsSource,
    RabbitMqSource,
    RateLimit,
    Source,
)
from queuebox_api.config.transform import Transform

__all__ = [
    "AdminConfig",
    "ApiKeyAuth",
    "AttributeHeaders",
    "BasicAuth",
    "BearerAuth",
    "Block",
    "CaptureConfig",
    "CaptureConnection",
    "Check",
    "ColumnMapping",
    "Config",
    "DatabaseConfig",
    "Destination",
    "Filter",
    "Finding",
    "HeaderAuth",
    "HeaderRule",
    "HmacAuth",
    "HttpConfig",
    "HttpDestination",
    "HttpSource",
    "InboxColumns",
    "InboxConfig",
    "InboxRetention",
    "KafkaDestination",
    "KafkaSource",
    "NatsDestination",
    "NatsSource",
    "OAuth2Auth",
    "OutboxColumns",
    "OutboxConfig",
    "OutboxRetention",
    "RabbitMqDestination",
    "RabbitMqSource",
    "RateLimit",
    "RelayConfig",
    "RetentionConfig",
    "Route",
    "Rule",
    "Secret",
    "SecretUrl",
    "ServerConfig",
    "Source",
    "Transform",
]
