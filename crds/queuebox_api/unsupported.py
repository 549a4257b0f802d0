"""What queuebox.yml can say and no loop of the agent can do yet. An entry leaves `NOT_YET` when its loop lands."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from queuebox_api.config import Config, Finding
from queuebox_api.config.block import UnreadableError
from queuebox_api.names import Path


class Gap(NamedTuple):
    """Something that cannot be done yet, and where a configuration asks for it."""

    what: str
    asked_for: Callable[[Config], Iterator[Path]]


def _destinations(kind: str) -> Callable[[Config], Iterator[Path]]:
    return lambda config: (
        ("destinations", name, "type")
        for name, destination in config.destinations.items()
        if getattr(destination, "type", None) == kind
    )


def _sources(config: Config) -> Iterator[Path]:
    return (("sources", name) for name in config.sources)


def _transforms(config: Config) -> Iterator[Path]:
    for name, destination in config.destinations.items():
        if getattr(destination, "transform", None):
            yield ("destinations", name, "transform")
    for index, route in enumerate(config.routes):
        if getattr(route, "transform", None):
            yield ("routes", index, "transform")
    for name, source in config.sources.items():
        if getattr(source, "transform", None):
            yield ("sources", name, "transform")


def _capture(config: Config) -> Iterator[Path]:
    capture = config.outbox.capture
    if capture.mode != "polling":
        yield ("outbox", "capture", "mode")
    if capture.enabled:
        yield ("outbox", "capture", "enabled")


def _when(holds: Callable[[Config], bool], *path: str) -> Callable[[Config], Iterator[Path]]:
    return lambda config: iter([path] if holds(config) else [])


NOT_YET: Final = (
    Gap("RabbitMQ destinations", _destinations("rabbitmq")),
    Gap("Kafka destinations", _destinations("kafka")),
    Gap("NATS destinations", _destinations("nats")),
    Gap("sources", _sources),
    Gap("transforms", _transforms),
    Gap("change data capture", _capture),
    Gap("SQL Server", _when(lambda config: config.database.type == "sqlserver", "database", "type")),
    Gap("the admin routes", _when(lambda config: config.admin.enabled, "admin", "enabled")),
    Gap("retention", _when(lambda config: config.retention.enabled, "retention", "enabled")),
)


def unsupported(config: Config) -> list[Finding]:
    """Each place where `config` asks for what this version cannot do.

    Of a configuration that is not whole (see `examine`), what can be read is looked at.
    """
    findings: list[Finding] = []
    for gap in NOT_YET:
        with suppress(UnreadableError):
            findings.extend(
                Finding(path, f"asks for {gap.what}, which this version cannot do yet")
                for path in gap.asked_for(config)
            )
    return findings
