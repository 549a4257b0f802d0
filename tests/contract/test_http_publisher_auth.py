"""Credentials of an HTTP destination (spec pages 07 and 24, edge-cases 2.7)."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs

import pytest

from contract.publisher import delivery
from queuebox_agent.broker.http.publisher import HttpPublisher
from queuebox_agent.broker.http.tokens import TokenCache
from queuebox_agent.errors import QueueBoxError, Retryable, Unavailable
from services.http_destination import publishing
from services.receiver import Receiver, answer, endless, hang, json_answer, reset

UNSOUND = "the answer of the token endpoint is no JSON object with a sound access_token"
TOKEN = json_answer({"access_token": "t0ken-1", "token_type": "Bearer", "expires_in": 3600})


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as receiver:
        yield receiver


@pytest.fixture
async def tokens() -> AsyncIterator[Receiver]:
    """A token endpoint."""
    async with Receiver(usual=TOKEN) as receiver:
        yield receiver


def oauth(
    receiver: Receiver, tokens: Receiver, cache: TokenCache | None = None, timeout: int = 30_000, **keys: Any
) -> AbstractAsyncContextManager[HttpPublisher]:
    auth = {"type": "oauth2", "clientId": "me", "clientSecret": "s3cr3t", "tokenUrl": f"{tokens.url}/token"} | keys
    return publishing(receiver.url, auth=auth, tokens=cache, timeoutMs=timeout)


@pytest.mark.parametrize(("user", "password"), [("me", "s3cr3t"), ("me", ""), ("mé", "a:b ü")])
async def test_basic_is_base64_of_user_and_password_in_utf_8(receiver: Receiver, user: str, password: str) -> None:
    async with publishing(receiver.url, auth={"type": "basic", "username": user, "password": password}) as publisher:
        await publisher.publish(delivery())
    scheme, _, pair = (receiver.last.header("Authorization") or "").partition(" ")
    assert (scheme, b64decode(pair).decode()) == ("Basic", f"{user}:{password}")


@pytest.mark.parametrize("keys", [{}, {"headerName": "X-API-Key"}])
async def test_a_header_is_sent_as_it_is_given(receiver: Receiver, keys: dict[str, str]) -> None:
    async with publishing(receiver.url, auth={"type": "header", "headerValue": "Key  s3cr3t", **keys}) as publisher:
        await publisher.publish(delivery())
    assert receiver.last.header(keys.get("headerName", "Authorization")) == "Key  s3cr3t"


async def test_a_secret_that_a_receiver_repeats_is_masked(receiver: Receiver) -> None:
    receiver.plan(answer(403, b"you sent Gue55me which is wrong", phrase="No"))
    auth = {"type": "header", "headerName": "X-Key", "headerValue": "Gue55me"}
    async with publishing(receiver.url, auth=auth) as publisher:
        with pytest.raises(Retryable, match=r"^HTTP 403 No: you sent \*\*\* which is wrong$"):
            await publisher.publish(delivery())


async def test_oauth_sends_the_token_as_bearer(receiver: Receiver, tokens: Receiver) -> None:
    async with oauth(receiver, tokens) as publisher:
        await publisher.publish(delivery())
    assert receiver.last.all("Authorization") == ["Bearer t0ken-1"]


async def test_the_token_request_is_a_form_post_of_the_grant(receiver: Receiver, tokens: Receiver) -> None:
    async with oauth(receiver, tokens, scope="orders write", extraParams={"audience": "a&b"}) as publisher:
        await publisher.publish(delivery())
    assert (tokens.last.method, tokens.last.target) == ("POST", "/token")
    assert tokens.last.header("Content-Type") == "application/x-www-form-urlencoded"
    assert parse_qs(tokens.last.body.decode(), strict_parsing=True) == {
        "grant_type": ["client_credentials"],
        "client_id": ["me"],
        "client_secret": ["s3cr3t"],
        "scope": ["orders write"],
        "audience": ["a&b"],
    }


async def test_no_scope_is_sent_when_none_is_set(receiver: Receiver, tokens: Receiver) -> None:
    async with oauth(receiver, tokens) as publisher:
        await publisher.publish(delivery())
    assert "scope" not in parse_qs(tokens.last.body.decode())


async def test_ten_deliveries_at_once_are_one_token_request(receiver: Receiver, tokens: Receiver) -> None:
    async with oauth(receiver, tokens) as publisher:
        await asyncio.gather(*(publisher.publish(delivery()) for _ in range(10)))
    assert (tokens.count, receiver.count) == (1, 10)


@pytest.mark.parametrize(("expires_in", "requests"), [({}, 1), ({"expires_in": "3600"}, 1), ({"expires_in": 0}, 2)])
async def test_how_long_a_token_is_kept(
    receiver: Receiver, tokens: Receiver, expires_in: dict[str, object], requests: int
) -> None:
    tokens.usual = json_answer({"access_token": "t", **expires_in})
    async with oauth(receiver, tokens) as publisher:
        await publisher.publish(delivery())
        await publisher.publish(delivery())
    assert tokens.count == requests


async def test_destinations_share_the_token_of_one_grant(receiver: Receiver, tokens: Receiver) -> None:
    cache = TokenCache()
    async with oauth(receiver, tokens, cache) as one, oauth(receiver, tokens, cache) as other:
        await one.publish(delivery())
        await other.publish(delivery())
    assert tokens.count == 1


async def test_an_authorization_of_the_row_wins_and_needs_no_token(receiver: Receiver, tokens: Receiver) -> None:
    async with oauth(receiver, tokens) as publisher:
        await publisher.publish(delivery(headers='{"authorization": "Mine"}'))
    assert receiver.last.all("Authorization") == ["Mine"]
    assert tokens.count == 0


async def test_oauth_wins_over_a_static_authorization(receiver: Receiver, tokens: Receiver) -> None:
    auth = {"type": "oauth2", "clientId": "me", "clientSecret": "s", "tokenUrl": tokens.url}
    async with publishing(receiver.url, auth=auth, headers={"authorization": "Static"}) as publisher:
        await publisher.publish(delivery())
    assert receiver.last.all("Authorization") == ["Bearer t0ken-1"]


async def test_a_refused_token_is_replaced_once_within_the_delivery(receiver: Receiver, tokens: Receiver) -> None:
    tokens.plan(TOKEN, json_answer({"access_token": "t0ken-2"}))
    receiver.plan(answer(401))
    async with oauth(receiver, tokens) as publisher:
        await publisher.publish(delivery("[1]"))
    assert [request.header("Authorization") for request in receiver.requests] == ["Bearer t0ken-1", "Bearer t0ken-2"]
    assert [request.body for request in receiver.requests] == [b"[1]", b"[1]"]


async def test_a_second_refusal_fails_the_delivery(receiver: Receiver, tokens: Receiver) -> None:
    receiver.usual = answer(401, phrase="Who")
    async with oauth(receiver, tokens) as publisher:
        with pytest.raises(Retryable, match=r"^HTTP 401 Who$"):
            await publisher.publish(delivery())
    assert receiver.count == 2


async def test_a_401_without_oauth_is_not_tried_again(receiver: Receiver) -> None:
    receiver.plan(answer(401))
    async with publishing(receiver.url) as publisher:
        with pytest.raises(Retryable):
            await publisher.publish(delivery())
    assert receiver.count == 1


@pytest.mark.parametrize(
    ("behaviour", "family", "text"),
    [
        (answer(400, b"no s3cr3t here", phrase="Bad"), Retryable, "token endpoint answered HTTP 400 Bad: no *** here"),
        (answer(302, headers={"Location": "/x"}), Retryable, "the token endpoint answered HTTP 302"),
        (answer(204), Retryable, UNSOUND),
        (answer(200, b"<html>"), Retryable, UNSOUND),
        (answer(200, b"[1]"), Retryable, UNSOUND),
        (answer(200, b"[" * 60_000), Retryable, UNSOUND),
        (json_answer({"expires_in": 5}), Retryable, UNSOUND),
        (json_answer({"access_token": "a", "expires_in": "soon"}), Retryable, UNSOUND),
        (json_answer({"access_token": ""}), Retryable, "a token that cannot be used"),
        (json_answer({"access_token": 7}), Retryable, "a token that cannot be used"),
        (json_answer({"access_token": "a\r\nX-Evil: 1"}), Retryable, "a token that cannot be used"),
        (answer(200, b'{"access_token": "a", "expires_in": Infinity}'), Retryable, "a token that cannot be used"),
        (endless(200), Retryable, UNSOUND),
        (reset, Retryable, "ClientOSError"),
        (hang, Retryable, "within 300 ms"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
async def test_a_token_endpoint_that_fails_fails_the_delivery(
    receiver: Receiver, tokens: Receiver, behaviour: Any, family: type[QueueBoxError], text: str
) -> None:
    tokens.plan(behaviour)
    async with oauth(receiver, tokens, timeout=300) as publisher:
        with pytest.raises(family) as raised:
            await publisher.publish(delivery())
    assert text in str(raised.value)
    assert receiver.count == 0


async def test_a_token_endpoint_that_is_away_is_unavailable(receiver: Receiver, tokens: Receiver) -> None:
    await tokens.close()
    async with oauth(receiver, tokens) as publisher:
        with pytest.raises(Unavailable):
            await publisher.publish(delivery())


async def test_a_token_endpoint_that_asks_to_wait_is_heard(receiver: Receiver, tokens: Receiver) -> None:
    tokens.plan(answer(429, headers={"Retry-After": "9"}))
    async with oauth(receiver, tokens) as publisher:
        with pytest.raises(Retryable) as raised:
            await publisher.publish(delivery())
    assert raised.value.after == 9.0


async def test_extra_parameters_that_an_endpoint_repeats_are_masked(receiver: Receiver, tokens: Receiver) -> None:
    tokens.plan(answer(400, b"pin 99417 is wrong", phrase="Bad"))
    async with oauth(receiver, tokens, extraParams={"pin": "99417"}) as publisher:
        with pytest.raises(Retryable, match=r"HTTP 400 Bad: pin \*\*\* is wrong$"):
            await publisher.publish(delivery())


async def test_a_token_that_a_receiver_repeats_is_masked(receiver: Receiver, tokens: Receiver) -> None:
    receiver.plan(answer(500, b"what is t0ken-1 for", phrase="Oh"))
    async with oauth(receiver, tokens) as publisher:
        with pytest.raises(Retryable, match=r"^HTTP 500 Oh: what is \*\*\* for$"):
            await publisher.publish(delivery())
