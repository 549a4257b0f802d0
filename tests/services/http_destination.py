"""Started HTTP publishers for tests."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from queuebox_agent.broker.http.publisher import HttpPublisher
from queuebox_agent.broker.http.tokens import TokenCache
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import HttpConfig, HttpDestination


def publisher_to(
    url: str,
    *,
    http: Mapping[str, Any] | None = None,
    metrics: Metrics | None = None,
    tokens: TokenCache | None = None,
    **keys: Any,
) -> HttpPublisher:
    """A publisher that is not started; `keys` and `http` are keys of the configuration."""
    destination = HttpDestination.model_validate({"baseUrl": url, **keys})
    return HttpPublisher(
        "orders", destination, HttpConfig.model_validate(http or {}), metrics or Metrics("test"), tokens
    )


@asynccontextmanager
async def publishing(url: str, **keys: Any) -> AsyncIterator[HttpPublisher]:
    """A started publisher."""
    publisher = publisher_to(url, **keys)
    await publisher.start()
    try:
        yield publisher
    finally:
        await publisher.close()
