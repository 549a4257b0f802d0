import asyncio
from typing import Final

from aiohttp import ClientResponse, ClientSession
from typing_extensions import override

from queuebox_agent.broker.http.address import refuse_private
from queuebox_agent.broker.http.answer import is_success, status_class, wait
from queuebox_agent.broker.http.credentials import auth_header, secrets, static_headers
from queuebox_agent.broker.http.exchange import beginning, finish, open_session, post
from queuebox_agent.broker.http.headers import AUTHORIZATION, HeaderPlan, Headers
from queuebox_agent.broker.http.oauth import OAuthClient
from queuebox_agent.broker.http.tokens import Token, TokenCache
from queuebox_agent.broker.http.url import endpoint
from queuebox_agent.domain.reason import reason
from queuebox_agent.errors import Rejected, Retryable, Unavailable
from queuebox_agent.ports import Delivery, Publisher
from queuebox_agent.telemetry.metrics import Metrics
from queuebox_api.config import HttpConfig, HttpDestination, OAuth2Auth

UNAUTHORIZED: Final = 401


class HttpPublisher(Publisher):
    """Delivers a message as one `POST` (spec pages 04, 11 and 26).

    The destination took the message when it answered 2xx; no redirect is followed. `Unavailable`: no request could be
    sent. `Rejected`: HTTP cannot carry the message. `Retryable`: everything else.
    """

    def __init__(
        self,
        name: str,
        destination: HttpDestination,
        http: HttpConfig,
        metrics: Metrics,
        tokens: TokenCache | None = None,
    ) -> None:
        """`tokens`: shared by the destinations of a process. Raises `Misconfigured` for a header that HTTP forbids."""
        self._called = f"destinations.{name}"
        self._url = endpoint(destination.base_url, destination.path)
        self._plan = HeaderPlan(self._called, static_headers(destination), auth_header(destination))
        self._oauth: OAuthClient | None = None
        if isinstance(auth := destination.auth, OAuth2Auth):
            self._oauth = OAuthClient(auth, TokenCache() if tokens is None else tokens, destination.timeout_ms)
        self._secrets = secrets(destination)
        self._timeout_ms = destination.timeout_ms
        self._http = http
        self._metrics = metrics
        self._session: ClientSession | None = None

    @property
    @override
    def kind(self) -> str:
        return "http"

    @override
    async def start(self) -> None:
        """Open the pool. Raises `Misconfigured` when private addresses are blocked and a host has one by now."""
        blocks = self._http.block_private_addresses
        if blocks:
            await refuse_private(f"{self._called}.baseUrl", self._url)
            if self._oauth:
                await refuse_private(f"{self._called}.auth.tokenUrl", self._oauth.url)
        self._session = open_session(self._timeout_ms / 2000, public_only=blocks)

    @override
    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @override
    async def publish(self, delivery: Delivery) -> None:
        headers = self._plan.of(delivery.row)
        content = _encoded(delivery.body)
        deadline = asyncio.get_running_loop().time() + self._timeout_ms / 1000
        if self._oauth is None or AUTHORIZATION in headers:
            response = await self._post(headers, content, deadline)
            secrets = self._secrets
        else:
            response, token = await self._post_with_token(self._oauth, headers, content, deadline)
            secrets = (*self._secrets, token.value)
        if not is_success(response.status):
            raise await self._failure(response, deadline, secrets)
        await finish(response)

    async def _post(self, headers: Headers, content: bytes, deadline: float) -> ClientResponse:
        try:
            async with asyncio.timeout_at(deadline):
                response = await post(self._open, self._url, headers, content)
        except TimeoutError:
            raise Retryable(f"no answer within {self._timeout_ms} ms") from None
        self._metrics.http_responses(status_class(response.status)).inc()
        return response

    async def _post_with_token(
        self, oauth: OAuthClient, headers: Headers, content: bytes, deadline: float
    ) -> tuple[ClientResponse, Token]:
        """Send with a bearer token. One that is refused is replaced once, at once, at no cost for the message."""
        token = await self._token(oauth, deadline)
        response = await self._post(_with_bearer(headers, token), content, deadline)
        if response.status == UNAUTHORIZED:
            await finish(response)
            oauth.refused(token)
            token = await self._token(oauth, deadline)
            response = await self._post(_with_bearer(headers, token), content, deadline)
        return response, token

    async def _token(self, oauth: OAuthClient, deadline: float) -> Token:
        try:
            async with asyncio.timeout_at(deadline):
                return await oauth.token(self._open)
        except TimeoutError:
            raise Retryable(f"no access token within {self._timeout_ms} ms") from None

    async def _failure(self, response: ClientResponse, deadline: float, secrets: tuple[str, ...]) -> Retryable:
        body = await beginning(response, self._http.max_error_body_bytes, deadline)
        head = f"HTTP {response.status} {response.reason or ''}".rstrip()
        text = f"{head}: {body.decode(errors='replace')}" if body else head
        return Retryable(reason(text, secrets), wait(response.status, response.headers))

    @property
    def _open(self) -> ClientSession:
        if self._session is None:
            raise Unavailable(f"{self._called} is not open")
        return self._session


def _encoded(body: str) -> bytes:
    try:
        return body.encode()
    except UnicodeEncodeError:
        raise Rejected("the body holds half of a surrogate pair, which UTF-8 cannot carry") from None


def _with_bearer(headers: Headers, token: Token) -> Headers:
    headers[AUTHORIZATION] = f"Bearer {token.value}"
    return headers
