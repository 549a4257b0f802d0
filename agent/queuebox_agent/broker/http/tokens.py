import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from queuebox_agent.errors import Unavailable
from queuebox_api.config import OAuth2Auth, Secret

EARLY_SECONDS = 30.0
"""A token is not used any more when it expires within this time."""


@dataclass(frozen=True, slots=True)
class Grant:
    """All that decides which token a token endpoint gives: two grants that differ in anything never share one."""

    token_url: str
    client_id: str
    client_secret: Secret
    scope: str | None
    extra_params: tuple[tuple[str, str], ...] = field(repr=False)

    @classmethod
    def of(cls, auth: OAuth2Auth) -> Self:
        """The grant that an `auth` block describes."""
        extra = tuple(sorted(auth.extra_params.items()))
        return cls(auth.token_url, auth.client_id, auth.client_secret, auth.scope, extra)

    def form(self) -> Mapping[str, str]:
        """The fields of the token request (RFC 6749, section 4.4.2)."""
        scope = {"scope": self.scope} if self.scope else {}
        return {
            "grant_type": "client_credentials",
            "client_id": self.client_id,
            "client_secret": self.client_secret.get_secret_value(),
            **scope,
            **dict(self.extra_params),
        }

    def secrets(self) -> tuple[str, ...]:
        """What no text may show."""
        return (self.client_secret.get_secret_value(), *(value for _, value in self.extra_params))


@dataclass(frozen=True, slots=True)
class Token:
    """An access token. `lifetime`: seconds from when it was asked for."""

    value: str = field(repr=False)
    lifetime: float


Fetch = Callable[[Grant], Awaitable[Token]]


class TokenCache:
    """The tokens of a process. Callers that ask for the same token at once share one request (spec page 24)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[Grant, tuple[Token, float]] = {}
        self._fetches: dict[Grant, asyncio.Task[Token]] = {}

    async def token(self, grant: Grant, fetch: Fetch) -> Token:
        """Return a token that is good for EARLY_SECONDS more, or what `fetch` gives. Raises what `fetch` raises.

        A caller that is cancelled does not cancel the request that others wait for.
        """
        kept, until = self._kept.get(grant, (None, 0.0))
        if kept is not None and self._clock() < until:
            return kept
        task = self._fetches.get(grant)
        if task is None:
            task = self._fetches[grant] = asyncio.create_task(self._fetch(grant, fetch), name="token")
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.wait([task])
        if task.cancelled():
            raise Unavailable("the request for a token was given up")
        return task.result()

    def drop(self, grant: Grant, token: Token) -> None:
        """Forget a token that was refused, unless another one has replaced it already."""
        kept, _ = self._kept.get(grant, (None, 0.0))
        if kept is token:
            del self._kept[grant]

    async def _fetch(self, grant: Grant, fetch: Fetch) -> Token:
        asked = self._clock()
        try:
            token = await fetch(grant)
        finally:
            del self._fetches[grant]
        self._kept[grant] = (token, asked + token.lifetime - EARLY_SECONDS)
        return token
