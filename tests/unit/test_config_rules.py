"""What stops the start, of edge-cases 2.2: each value is refused, at the path that a person would change."""

from typing import Any

import pytest

from services.configs import config, tree, wrong

HTTP = {"type": "http", "baseUrl": "https://x"}
RABBITMQ = {"type": "rabbitmq", "url": "amqp://x", "exchange": "x"}
KAFKA = {"type": "kafka", "bootstrapServers": "x", "topic": "x"}
NATS = {"type": "nats", "servers": "nats://x", "subject": "x"}
SOURCE = {"type": "http", "path": "/x", "idempotencyKeyPath": "$.id", "eventTypePath": "$.type"}
RABBITMQ_SOURCE = {"type": "rabbitmq", "queueName": "x", "connectionUrl": "amqp://x"}
KAFKA_SOURCE = {"type": "kafka", "bootstrapServers": "x", "topics": ["x"], "groupId": "x"}
NATS_SOURCE = {"type": "nats", "servers": "nats://x", "stream": "x", "durable": "x"}
ENTRIES: dict[str, Any] = {
    "destinations": {"http": HTTP, "rabbitmq": RABBITMQ, "kafka": KAFKA, "nats": NATS},
    "routes": [{"topicPattern": "**", "destination": "http"}],
    "sources": {"http": SOURCE, "rabbitmq": RABBITMQ_SOURCE, "kafka": KAFKA_SOURCE, "nats": NATS_SOURCE},
}


def whole(path: str = "", value: object = None) -> dict[str, Any]:
    entries: dict[str, Any] = {
        "destinations": {name: dict(entry) for name, entry in ENTRIES["destinations"].items()},
        "routes": [dict(route) for route in ENTRIES["routes"]],
        "sources": {name: dict(entry) for name, entry in ENTRIES["sources"].items()},
    }
    return tree(path, value, **entries)


def test_the_configuration_of_these_tests_is_valid() -> None:
    assert wrong(whole()) == {}


NUMBERS_ABOVE_ZERO = [
    "database.poolSize",
    "database.connectionTimeoutMs",
    "database.startupTimeoutMs",
    "outbox.pollIntervalMs",
    "outbox.batchSize",
    "outbox.concurrency",
    "outbox.claimTimeoutMs",
    "outbox.shutdownTimeoutMs",
    "outbox.maxAttempts",
    "outbox.retryBaseDelayMs",
    "outbox.pendingGaugeIntervalMs",
    "outbox.capture.reconciliationIntervalMs",
    "inbox.maxBodyBytes",
    "inbox.relay.maxAttempts",
    "inbox.relay.pollIntervalMs",
    "inbox.relay.batchSize",
    "inbox.relay.claimTimeoutMs",
    "inbox.relay.pendingGaugeIntervalMs",
    "http.maxErrorBodyBytes",
    "admin.maxTransformTimeoutMs",
    "admin.maxPayloadBytes",
    "server.httpPort",
    "server.managementPort",
    "outbox.capture.connection.port",
    "retention.outbox.batchSize",
    "retention.inbox.batchSize",
    "retention.outbox.maxCount",
    "destinations.http.timeoutMs",
    "destinations.nats.timeoutMs",
    "sources.rabbitmq.prefetchCount",
    "sources.kafka.maxPollRecords",
    "sources.nats.ackWaitMs",
    "sources.nats.batchSize",
]


@pytest.mark.parametrize("path", NUMBERS_ABOVE_ZERO)
@pytest.mark.parametrize("value", [0, -1, "0"])
def test_a_number_must_be_above_zero(path: str, value: object) -> None:
    assert wrong(whole(path, value)) == {path: "must be at least 1"}


@pytest.mark.parametrize("path", NUMBERS_ABOVE_ZERO)
@pytest.mark.parametrize("value", ["", "x", 1.5, True, [], "1_0", "٣"])
def test_a_number_must_be_whole(path: str, value: object) -> None:
    assert wrong(whole(path, value)) == {path: "must be a whole number"}


@pytest.mark.parametrize("path", ["server.httpPort", "server.managementPort", "outbox.capture.connection.port"])
def test_a_port_is_at_most_65535(path: str) -> None:
    assert wrong(whole(path, 65_536)) == {path: "must be at most 65535"}


def test_a_kafka_publish_has_at_least_two_seconds() -> None:
    path = "destinations.kafka.timeoutMs"
    assert wrong(whole(path, 1999)) == {path: "must be at least 2000"}
    assert wrong(whole(path, 2000)) == {}


ONE_OF = {
    "outbox.capture.mode": "polling, postgres-logical or sqlserver-cdc",
    "database.type": "postgresql or sqlserver",
    "retention.outbox.policy": "AGE, COUNT or DISABLED",
    "retention.inbox.policy": "AGE or DISABLED",
    "destinations.rabbitmq.exchangeType": "topic, direct or fanout",
    "destinations.rabbitmq.deliveryMode": "persistent or transient",
    "destinations.rabbitmq.exchangeFrom": "aggregate_type, topic or key",
    "destinations.kafka.topicFrom": "aggregate_type, topic or key",
    "destinations.nats.subjectFrom": "aggregate_type, topic or key",
    "destinations.kafka.securityProtocol": "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
    "sources.kafka.securityProtocol": "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
    "sources.kafka.autoOffsetReset": "earliest or latest",
    "sources.http.consumption": "push or pull",
}


@pytest.mark.parametrize("path", ONE_OF)
@pytest.mark.parametrize("value", ["other", "Polling", "age", ""])
def test_an_enumeration_is_told_its_values(path: str, value: str) -> None:
    assert wrong(whole(path, value))[path] == f"must be exactly {ONE_OF[path]}"


NOT_BLANK = [
    "database.username",
    "routes.0.topicPattern",
    "routes.0.destination",
    "outbox.capture.connection.hostname",
    "destinations.rabbitmq.url",
    "destinations.rabbitmq.exchange",
    "destinations.kafka.bootstrapServers",
    "destinations.kafka.topic",
    "destinations.nats.servers",
    "destinations.nats.subject",
    "sources.rabbitmq.queueName",
    "sources.rabbitmq.connectionUrl",
    "sources.kafka.groupId",
    "sources.nats.stream",
    "sources.nats.durable",
]


@pytest.mark.parametrize("path", NOT_BLANK)
@pytest.mark.parametrize("value", ["", "  ", "\t"])
def test_a_name_must_not_be_blank(path: str, value: str) -> None:
    assert wrong(whole(path, value))[path.replace("routes.0", "routes[0]")] == "must not be blank"


@pytest.mark.parametrize("topics", [[], "x", None])
def test_a_kafka_source_reads_at_least_one_topic(topics: object) -> None:
    assert list(wrong(whole("sources.kafka.topics", topics))) == ["sources.kafka.topics"]


def test_no_topic_of_a_kafka_source_is_blank() -> None:
    assert wrong(whole("sources.kafka.topics", ["x", " "])) == {"sources.kafka.topics[1]": "must not be blank"}


@pytest.mark.parametrize("path", ["database.migrate", "inbox.relay.enabled", "destinations.nats.jetStream"])
@pytest.mark.parametrize("value", ["", "yes", "1", 1, 0, None])
def test_a_switch_is_true_or_false(path: str, value: object) -> None:
    assert wrong(whole(path, value)) == {path: "must be true or false"}


@pytest.mark.parametrize("value", [True, "true", "TRUE", " true "])
def test_a_switch_takes_what_a_variable_holds(value: object) -> None:
    assert config(http={"blockPrivateAddresses": value}).http.block_private_addresses is True


def test_the_two_ports_differ() -> None:
    assert wrong(whole("server.managementPort", 8080)) == {"server.managementPort": "must differ from httpPort"}


@pytest.mark.parametrize("pattern", ["***", "a.***", "a.****.b", "*****"])
def test_a_pattern_has_no_three_stars(pattern: str) -> None:
    assert list(wrong(whole("routes.0.topicPattern", pattern))) == ["routes[0].topicPattern"]


@pytest.mark.parametrize("pattern", ["*", "**", "a.*", "**.a.**", "a.*.b*c", "a+(b)[c]?"])
def test_any_other_pattern_is_taken(pattern: str) -> None:
    assert wrong(whole("routes.0.topicPattern", pattern)) == {}


def test_a_route_names_a_destination() -> None:
    found = wrong(whole("routes.0.destination", "htpp"))
    assert found == {"routes[0].destination": "must name a destination; there is http, rabbitmq, kafka and nats"}


def test_a_route_without_any_destination_is_told_so() -> None:
    found = wrong(tree(routes=[{"topicPattern": "**", "destination": "x"}]))
    assert found == {"routes[0].destination": "must name a destination; there is none"}


@pytest.mark.parametrize(
    ("key", "missing"), [("username", "password"), ("password", "username")], ids=["no password", "no username"]
)
@pytest.mark.parametrize("section", ["destinations", "sources"])
def test_nats_takes_a_user_and_a_password_together(section: str, key: str, missing: str) -> None:
    assert wrong(whole(f"{section}.nats.{key}", "x")) == {f"{section}.nats.{missing}": f"is required with {key}"}


@pytest.mark.parametrize("section", ["destinations", "sources"])
def test_nats_takes_a_token_or_a_user(section: str) -> None:
    entry = ENTRIES[section]["nats"] | {"username": "u", "password": "p", "token": "t"}
    assert wrong(whole(f"{section}.nats", entry)) == {f"{section}.nats.token": "set username or token, not both"}


@pytest.mark.parametrize("section", ["destinations", "sources"])
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_sasl_needs_mechanism_user_and_password(section: str, protocol: str) -> None:
    found = wrong(whole(f"{section}.kafka.securityProtocol", protocol))
    assert set(found) == {f"{section}.kafka.{key}" for key in ("saslMechanism", "saslUsername", "saslPassword")}


def test_the_admin_routes_need_auth() -> None:
    assert list(wrong(tree(admin={"enabled": True}))) == ["admin.auth"]
    assert wrong(tree(admin={"enabled": True, "insecure": True})) == {}
    assert wrong(tree(admin={"enabled": True, "auth": {"token": "x"}})) == {}


@pytest.mark.parametrize("path", ["destinations.http.transform", "sources.http.transform", "routes.0.transform"])
def test_a_transform_is_checked_wherever_it_stands(path: str) -> None:
    found = wrong(whole(path, {"timeoutMs": 0, "maxDepth": 0, "onError": "fail"}))
    path = path.replace("routes.0", "routes[0]")
    assert found == {
        f"{path}.expression": "is required",
        f"{path}.timeoutMs": "must be at least 1",
        f"{path}.maxDepth": "must be at least 1",
        f"{path}.onError": "must be exactly Fail, Skip or Dead",
    }


def test_everything_that_is_wrong_is_found_at_once() -> None:
    found = wrong(
        {
            "server": {"httpPort": 0},
            "database": {"url": "jdbc:mysql://x", "poolSize": 0},
            "outbox": {"batchSise": 3},
            "destinations": {"a": HTTP | {"timeoutMs": 0}, "b": {"baseUrl": "ftp://x"}},
            "routes": [{"topicPattern": "***", "destination": "c"}, {"topicPattern": "**", "destination": "d"}],
            "retention": {"enabled": True, "outbox": {"policy": "AGE", "batchSize": 0}},
        }
    )
    assert set(found) == {
        "server.httpPort", "database.url", "database.username", "database.password", "database.poolSize",
        "outbox.batchSise", "destinations.a.timeoutMs", "destinations.b.baseUrl", "routes[0].topicPattern",
        "routes[0].destination", "routes[1].destination", "retention.outbox.batchSize", "retention.outbox.maxAge",
    }  # fmt: skip
