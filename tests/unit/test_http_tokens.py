import asyncio
from collections.abc import Callable

import pytest

from queuebox_agent.broker.http.tokens import Grant, Token, TokenCache
from queuebox_agent.errors import Retryable, Unavailable
from queuebox_api.config import OAuth2Auth
from services.waiting import until

AUTH = {"tokenUrl": "https://auth/token", "clientId": "me", "clientSecret": "s3cr3t"}
GRANT = Grant.of(OAuth2Auth.model_validate(AUTH))


class Endpoint:
    """Gives tokens 1, 2, … when it is let to."""

    def __init__(self, lifetime: float = 3600.0) -> None:
        self.lifetime = lifetime
        self.calls = 0
        self.open = asyncio.Event()
        self.open.set()
        self.failure: Exception | None = None

    async def fetch(self, _: Grant) -> Token:
        self.calls += 1
        call = self.calls
        await self.open.wait()
        if self.failure:
            raise self.failure
        return Token(f"token-{call}", self.lifetime)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_a_token_is_kept() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    assert await tokens.token(GRANT, endpoint.fetch) is await tokens.token(GRANT, endpoint.fetch)
    assert endpoint.calls == 1


@pytest.mark.parametrize(("after", "calls"), [(69.9, 1), (70.0, 2), (200.0, 2)])
async def test_a_token_is_kept_until_30_seconds_before_it_expires(after: float, calls: int) -> None:
    clock = Clock()
    tokens, endpoint = TokenCache(clock), Endpoint(lifetime=100.0)
    await tokens.token(GRANT, endpoint.fetch)
    clock.now += after
    await tokens.token(GRANT, endpoint.fetch)
    assert endpoint.calls == calls


@pytest.mark.parametrize("lifetime", [29.0, 30.0, 0.0, -5.0])
async def test_a_token_that_lives_no_longer_than_30_seconds_is_asked_for_every_time(lifetime: float) -> None:
    tokens, endpoint = TokenCache(Clock()), Endpoint(lifetime)
    await tokens.token(GRANT, endpoint.fetch)
    await tokens.token(GRANT, endpoint.fetch)
    assert endpoint.calls == 2


async def test_ten_callers_at_once_are_one_request() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    got = await asyncio.gather(*(tokens.token(GRANT, endpoint.fetch) for _ in range(10)))
    assert {token.value for token in got} == {"token-1"}
    assert endpoint.calls == 1


async def test_ten_callers_at_once_are_one_request_also_for_a_token_that_is_not_kept() -> None:
    tokens, endpoint = TokenCache(), Endpoint(lifetime=5.0)
    await asyncio.gather(*(tokens.token(GRANT, endpoint.fetch) for _ in range(10)))
    assert endpoint.calls == 1


async def test_a_caller_that_is_cancelled_does_not_cancel_the_request_of_the_others() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    endpoint.open.clear()
    first, second = (asyncio.create_task(tokens.token(GRANT, endpoint.fetch)) for _ in range(2))
    await until(lambda: endpoint.calls == 1)
    first.cancel()
    await asyncio.wait([first])
    endpoint.open.set()
    assert (await second).value == "token-1"
    assert first.cancelled()


async def test_a_request_that_nobody_waits_for_any_more_still_gives_its_token() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    endpoint.open.clear()
    caller = asyncio.create_task(tokens.token(GRANT, endpoint.fetch))
    await until(lambda: endpoint.calls == 1)
    caller.cancel()
    await asyncio.wait([caller])
    endpoint.open.set()
    assert (await tokens.token(GRANT, endpoint.fetch)).value == "token-1"


async def test_a_failure_reaches_every_caller_and_is_not_kept() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    endpoint.failure = Retryable("no")
    failed = await asyncio.gather(*(tokens.token(GRANT, endpoint.fetch) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in failed] == [Retryable] * 3
    endpoint.failure = None
    assert (await tokens.token(GRANT, endpoint.fetch)).value == "token-2"


async def test_a_request_that_is_cancelled_from_outside_is_no_cancellation_of_its_callers() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    endpoint.open.clear()
    caller = asyncio.create_task(tokens.token(GRANT, endpoint.fetch))
    await until(lambda: endpoint.calls == 1)
    [request] = [task for task in asyncio.all_tasks() if task.get_name() == "token"]
    request.cancel()
    with pytest.raises(Unavailable):
        await caller


async def test_a_dropped_token_is_asked_for_again() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    tokens.drop(GRANT, await tokens.token(GRANT, endpoint.fetch))
    assert (await tokens.token(GRANT, endpoint.fetch)).value == "token-2"


async def test_a_token_that_has_been_replaced_drops_nothing() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    old = await tokens.token(GRANT, endpoint.fetch)
    tokens.drop(GRANT, old)
    new = await tokens.token(GRANT, endpoint.fetch)
    tokens.drop(GRANT, old)
    assert await tokens.token(GRANT, endpoint.fetch) is new


@pytest.mark.parametrize(
    "difference",
    [
        {"tokenUrl": "https://other/token"},
        {"clientId": "you"},
        {"clientSecret": "0ther"},
        {"scope": "orders"},
        {"extraParams": {"audience": "orders"}},
    ],
    ids=lambda difference: next(iter(difference)),
)
async def test_grants_that_differ_never_share_a_token(difference: dict[str, object]) -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    other = Grant.of(OAuth2Auth.model_validate(AUTH | difference))
    assert await tokens.token(GRANT, endpoint.fetch) is not await tokens.token(other, endpoint.fetch)


async def test_equal_grants_share_a_token() -> None:
    tokens, endpoint = TokenCache(), Endpoint()
    one, other = (
        Grant.of(OAuth2Auth.model_validate(AUTH | {"extraParams": extra}))
        for extra in ({"a": "1", "b": "2"}, {"b": "2", "a": "1"})
    )
    assert await tokens.token(one, endpoint.fetch) is await tokens.token(other, endpoint.fetch)


@pytest.mark.parametrize("shown", [str, repr])
def test_neither_secret_nor_token_is_ever_printed(shown: Callable[[object], str]) -> None:
    grant = Grant.of(OAuth2Auth.model_validate(AUTH | {"extraParams": {"pin": "s3cr3t"}}))
    assert "s3cr3t" not in shown(grant) + shown(Token("s3cr3t", 1.0))
