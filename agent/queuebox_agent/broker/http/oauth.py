"""The client credentials grant: one form post, one token (spec pages 07 and 24, edge-cases 2.7)."""

import asyncio
import json
from math import isfinite
from urllib.parse import urlencode

from aiohttp import ClientResponse, ClientSession
from multidict import CIMultiDict
from yarl import URL

from queuebox_agent.broker.http.answer import is_success, wait
from queuebox_agent.broker.http.exchange import beginning, post
from queuebox_agent.broker.http.headers import JSON, USER_AGENT, Headers, is_header_value
from queuebox_agent.broker.http.tokens import Grant, Token, TokenCache
from queuebox_agent.domain.reason import reason
from queuebox_agent.errors import Retryable
from queuebox_api.config import OAuth2Auth

LARGEST_ANSWER = 64 * 1024
"""Bytes of a token answer that are read."""
DEFAULT_LIFETIME = 3600.0
"""Seconds, when the answer does not say."""


class OAuthClient:
    """Asks one token endpoint on behalf of one destination; the cache may serve others too."""

    def __init__(self, auth: OAuth2Auth, tokens: TokenCache, timeout_ms: int) -> None:
        self._grant = Grant.of(auth)
        self._url = URL(auth.token_url)
        self._tokens = tokens
        self._timeout_ms = timeout_ms

    @property
    def url(self) -> URL:
        """The token endpoint."""
        return self._url

    async def token(self, session: ClientSession) -> Token:
        """Return a token that is good now. Raises `Retryable` or `Unavailable` when none is to be had."""
        return await self._tokens.token(self._grant, lambda grant: self._fetch(session, grant))

    def refused(self, token: Token) -> None:
        """Forget a token that the destination refused."""
        self._tokens.drop(self._grant, token)

    async def _fetch(self, session: ClientSession, grant: Grant) -> Token:
        deadline = asyncio.get_running_loop().time() + self._timeout_ms / 1000
        headers: Headers = CIMultiDict(
            {
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": JSON,
                "Accept-Encoding": "identity",
                "User-Agent": USER_AGENT,
            }
        )
        try:
            async with asyncio.timeout_at(deadline):
                response = await post(session, self._url, headers, urlencode(grant.form()).encode())
        except TimeoutError:
            raise Retryable(f"the token endpoint did not answer within {self._timeout_ms} ms") from None
        return _token(response, await beginning(response, LARGEST_ANSWER, deadline), grant)


def _token(response: ClientResponse, body: bytes, grant: Grant) -> Token:
    if not is_success(response.status):
        text = body.decode(errors="replace")
        raise Retryable(
            reason(f"the token endpoint answered HTTP {response.status} {response.reason}: {text}", grant.secrets()),
            wait(response.status, response.headers),
        )
    try:
        answer = json.loads(body)
        value, lifetime = answer["access_token"], float(answer.get("expires_in", DEFAULT_LIFETIME))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Retryable("the answer of the token endpoint is no JSON object with a sound access_token") from None
    if not isinstance(value, str) or not value or not is_header_value(value) or not isfinite(lifetime):
        raise Retryable("the token endpoint gave a token that cannot be used")
    return Token(value, lifetime)
