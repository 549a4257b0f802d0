import asyncio
import json
import shutil
import ssl
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from queuebox_agent.demo.postgres import free_port
from queuebox_api.config import Finding
from queuebox_operator import webhook
from queuebox_operator.telemetry.metrics import Metrics
from queuebox_operator.webhook import Webhook, answer
from services.boxes import destination
from services.tls import certificate, needs_openssl
from services.waiting import until

GOOD, BAD = {"type": "http"}, {"type": "carrier-pigeon"}


def check(_: str, spec: Mapping[str, Any]) -> Sequence[Finding]:
    """The least rule that a test needs; the real rules have tests of their own."""
    return [] if spec == GOOD else [Finding(("http", "baseUrl"), "is required")]


def review(spec: Mapping[str, Any], operation: str = "CREATE", before: Mapping[str, Any] | None = None) -> Any:
    asked = {
        "uid": "42", "kind": {"group": "queuebox.dev", "version": "v1alpha1", "kind": "Destination"},
        "namespace": "shop", "name": "receiver", "operation": operation,
        "object": None if operation == "DELETE" else {"spec": spec}, "oldObject": before and {"spec": before},
    }  # fmt: skip
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


def new_certificate(folder: Path) -> ssl.SSLContext:
    """Put another one into the folder; the context trusts nobody else."""
    client = certificate(folder).client
    (folder / "certificate.pem").replace(folder / "tls.crt")
    (folder / "key.pem").replace(folder / "tls.key")
    return client


class Client:
    def __init__(self, url: str, trust: ssl.SSLContext, metrics: Metrics) -> None:
        self.url, self.trust, self.metrics = url, trust, metrics

    async def post(self, body: object) -> tuple[int, str]:
        """A connection of its own, so that each has a handshake."""
        text = body if isinstance(body, str) else json.dumps(body)
        connector = aiohttp.TCPConnector(ssl=self.trust)
        async with aiohttp.ClientSession(connector=connector) as http, http.post(self.url, data=text) as response:
            return response.status, await response.text()

    async def verdict(self, body: object) -> dict[str, Any]:
        status, text = await self.post(body)
        assert status == 200, text
        response: dict[str, Any] = json.loads(text)["response"]
        assert response["uid"] == "42"
        return response


@asynccontextmanager
async def serving(folder: Path, check: webhook.Check = check) -> AsyncIterator[Client]:
    trust = new_certificate(folder)
    served = Webhook(check, folder, metrics := Metrics("1.2.3"), port := free_port())
    await served.start()
    looking = asyncio.create_task(served.run())
    try:
        yield Client(f"https://127.0.0.1:{port}/validate", trust, metrics)
    finally:
        looking.cancel()
        await served.stop()


pytestmark = needs_openssl


async def test_what_is_right_is_allowed(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        assert await client.verdict(review(GOOD)) == {"uid": "42", "allowed": True}


async def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        verdict = await client.verdict(review(BAD))
        assert not verdict["allowed"]
        assert verdict["status"]["message"] == "spec.http.baseUrl: is required"


async def test_what_was_wrong_before_may_change_elsewhere(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        assert (await client.verdict(review(BAD, "UPDATE", BAD)))["allowed"]


async def test_a_change_to_what_is_wrong_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        assert not (await client.verdict(review(BAD, "UPDATE", GOOD)))["allowed"]


async def test_a_delete_is_allowed(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        assert (await client.verdict(review(BAD, "DELETE", BAD)))["allowed"]


async def test_a_kind_that_nobody_knows_is_not_counted_by_its_name(tmp_path: Path) -> None:
    body = review(GOOD)
    body["request"]["kind"]["kind"] = "Pigeon"
    async with serving(tmp_path) as client:
        assert (await client.verdict(body))["allowed"]
        assert "Pigeon" not in client.metrics.exposition().decode()


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"request": null}', '{"request": {"uid": "1"}}', "[" * 100_000])
async def test_what_is_no_review_is_a_bad_request(tmp_path: Path, body: str) -> None:
    async with serving(tmp_path) as client:
        assert (await client.post(body))[0] == 400


async def test_a_body_above_the_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "LARGEST_REVIEW", 1000)
    async with serving(tmp_path) as client:
        assert (await client.post(" " * 1001))[0] == 413


async def test_a_check_that_takes_too_long_ends_without_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "ANSWER_SECONDS", 0.1)
    over = threading.Event()

    def slow(_: str, __: Mapping[str, Any]) -> Sequence[Finding]:
        over.wait(10)
        return []

    async with serving(tmp_path, slow) as client:
        assert (await client.post(review(GOOD)))[0] == 503
        over.set()


async def test_more_than_fit_at_once_are_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MOST_AT_ONCE", 0)
    async with serving(tmp_path) as client:
        assert (await client.post(review(GOOD)))[0] == 429


async def test_large_reviews_wait_for_each_other_and_small_ones_for_nobody(tmp_path: Path) -> None:
    begun, over = threading.Event(), threading.Event()
    large = GOOD | {"text": " " * webhook.SMALL_REVIEW}

    def slow(_: str, spec: Mapping[str, Any]) -> Sequence[Finding]:
        if spec == large:
            begun.set()
            over.wait(10)
        return []

    async with serving(tmp_path, slow) as client:
        first = asyncio.create_task(client.post(review(large)))
        await until(begun.is_set)
        begun.clear()
        second = asyncio.create_task(client.post(review(large)))
        assert (await client.verdict(review(GOOD)))["allowed"]
        assert not begun.is_set()
        over.set()
        assert [(await it)[0] for it in (first, second)] == [200, 200]


async def test_a_renewed_certificate_is_used_without_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "LOOK_SECONDS", 0.05)
    async with serving(tmp_path) as client:
        client.trust = new_certificate(tmp_path)
        await until(lambda: _trusted(client), what="the new certificate")


async def test_a_certificate_that_cannot_be_read_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "LOOK_SECONDS", 0.05)
    async with serving(tmp_path) as client:
        (tmp_path / "tls.key").write_text("half of a k")
        await asyncio.get_running_loop().run_in_executor(None, shutil.disk_usage, tmp_path)
        assert (await client.verdict(review(GOOD)))["allowed"]


async def test_it_does_not_start_without_a_certificate(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"tls\.crt|No such file"):
        await Webhook(check, tmp_path, Metrics("1.2.3"), free_port()).start()


def test_a_long_list_of_findings_is_cut() -> None:
    findings = [Finding(("http", "headers", str(number)), "is wrong") for number in range(12)]
    message = answer("42", findings)["response"]["status"]["message"]
    assert message.count(";") == webhook.MOST_FINDINGS
    assert message.endswith("and 2 more")


def test_an_expression_that_does_not_compile_is_found_with_its_place() -> None:
    spec = destination(transform={"expression": "$sum("})["spec"]
    (found,) = webhook.findings("Destination", spec)
    assert found.path == ("transform", "expression")
    assert found.text.startswith("at character ")


def test_a_rule_of_the_schema_is_found_too() -> None:
    spec = destination()["spec"] | {"http": {}}
    assert [finding.path for finding in webhook.findings("Destination", spec)] == [("http", "baseUrl")]


@pytest.mark.parametrize("kind", ["Destination", "Pod"])
def test_what_is_right_or_of_another_kind_has_no_finding(kind: str) -> None:
    assert not webhook.findings(kind, destination()["spec"])


async def _trusted(client: Client) -> bool:
    try:
        return bool((await client.verdict(review(GOOD)))["allowed"])
    except aiohttp.ClientError:
        return False
