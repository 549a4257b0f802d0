"""The optional admission webhook: says at `kubectl apply` what `Accepted=False` would say a second later.

It changes nothing and refuses nothing that the operator would accept. Every replica serves it, leader or not.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from queuebox_api.config import Finding
from queuebox_api.names import dotted
from queuebox_api.resources import KINDS
from queuebox_operator import policy
from queuebox_operator.facts import Ref
from queuebox_operator.server import GRACE_SECONDS, listen
from queuebox_operator.telemetry.logs import about
from queuebox_operator.telemetry.metrics import Metrics

PORT: Final = 9443
LARGEST_REVIEW = 4 << 20
"""The API server sends the object and the one before, and neither can be larger than 1.5 MiB."""
SMALL_REVIEW = 64 << 10
"""Of those that are larger one at a time is taken in: decoded, a text can take 25 times its size."""
MOST_AT_ONCE = 32
ANSWER_SECONDS = 4.0
CHECK_THREADS = 2
LOOK_SECONDS = 5.0
"""How often the certificate files are looked at."""
MOST_FINDINGS = 10

Check = Callable[[str, Mapping[str, Any]], Sequence[Finding]]
"""What is wrong with the spec of a resource of that kind."""

_NAMES: Final = frozenset(kind.name for kind in KINDS)

log = logging.getLogger(__name__)


def findings(kind: str, spec: Mapping[str, Any]) -> list[Finding]:
    """What the operator would find wrong with the spec on its own; nothing of a kind that is not its own."""
    return policy.findings(kind, spec) if kind in _NAMES else []


class Webhook:
    """`POST /validate` over TLS with the `tls.crt` and `tls.key` of a directory, which may change while it runs."""

    def __init__(self, check: Check, certificates: Path, metrics: Metrics, port: int = PORT) -> None:
        self._check, self._metrics, self._port = check, metrics, port
        self._certificate = _Certificate(certificates)
        self._threads = ThreadPoolExecutor(CHECK_THREADS, thread_name_prefix="webhook")
        self._inside, self._large = 0, asyncio.Lock()
        application = web.Application(client_max_size=LARGEST_REVIEW)
        application.add_routes([web.post("/validate", self._validate)])
        self._runner = web.AppRunner(application, shutdown_timeout=GRACE_SECONDS, access_log=None)

    async def start(self) -> None:
        """Listen. Raises OSError (of which ssl.SSLError is one) when the certificate or the port cannot be had."""
        self._certificate.load()
        await self._runner.setup()
        await listen(self._runner, self._port, ssl_context=self._certificate.context)

    async def run(self) -> None:
        """Until cancelled: take up a certificate that was renewed."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self._certificate.load_if_changed()

    async def stop(self) -> None:
        """Close the port, whether or not it is open."""
        await self._runner.cleanup()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _validate(self, request: web.Request) -> web.Response:
        if self._inside >= MOST_AT_ONCE:
            self._metrics.reviewed("", "busy")
            raise web.HTTPTooManyRequests(text="too many reviews at once")
        self._inside += 1
        try:
            async with asyncio.timeout(ANSWER_SECONDS), self._room_for(request.content_length):
                return await self._review(request)
        except TimeoutError:
            raise web.HTTPServiceUnavailable(text=f"no verdict within {ANSWER_SECONDS:g} s") from None
        finally:
            self._inside -= 1

    def _room_for(self, size: int | None) -> AbstractAsyncContextManager[None]:
        return self._large if size is None or size > SMALL_REVIEW else nullcontext()

    async def _review(self, request: web.Request) -> web.Response:
        try:
            asked = (await request.json())["request"]
            uid, kind = str(asked["uid"]), str(asked["kind"]["kind"])
            about_it = Ref(kind, str(asked.get("namespace", "")), str(asked.get("name", "")))
            spec = spec_to_check(asked)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise web.HTTPBadRequest(text="not an AdmissionReview") from None
        loop = asyncio.get_running_loop()
        # In a thread: an expression that takes long to compile must not keep the lease from being renewed.
        found = [] if spec is None else await loop.run_in_executor(self._threads, self._check, kind, spec)
        about(about_it)
        log.debug("reviewed", extra={"findings": len(found)})
        # Anybody who reaches the port chooses the kind, and each name of one would be kept for good.
        self._metrics.reviewed(kind if kind in _NAMES else "", "denied" if found else "allowed")
        return web.json_response(answer(uid, found))


def spec_to_check(asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The spec that an admission request brings; None when it brings no other than before.

    An object that is wrong already must still get its labels, and lose its finalizers.
    """
    if asked.get("operation") not in {"CREATE", "UPDATE"}:
        return None
    spec: Mapping[str, Any] = (asked.get("object") or {}).get("spec") or {}
    before = (asked.get("oldObject") or {}).get("spec")
    return None if spec == before else spec


def answer(uid: str, findings: Sequence[Finding]) -> dict[str, Any]:
    """The AdmissionReview that allows what has no finding, and names each place otherwise."""
    response: dict[str, Any] = {"uid": uid, "allowed": not findings}
    if findings:
        lines = [f"{dotted(('spec', *finding.path))}: {finding.text}" for finding in findings[:MOST_FINDINGS]]
        if more := len(findings) - len(lines):
            lines.append(f"and {more} more")
        response["status"] = {"code": 422, "reason": "Invalid", "message": "; ".join(lines)}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


class _Certificate:
    """A context whose next handshake uses the files as they were read last."""

    def __init__(self, folder: Path) -> None:
        self._files = (folder / "tls.crt", folder / "tls.key")
        self._read: tuple[tuple[int, int], ...] = ()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def load(self) -> None:
        state = self._state()
        # A pair that does not fit would leave the context without any, so another one has it first.
        for context in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.context):
            context.load_cert_chain(*self._files)
        self._read = state

    def load_if_changed(self) -> None:
        """What cannot be read now, for example because half of it is written, is read again the next time."""
        with suppress(OSError):
            if self._state() != self._read:
                self.load()
                log.info("the webhook's certificate was read again")

    def _state(self) -> tuple[tuple[int, int], ...]:
        stats = [file.stat() for file in self._files]
        return tuple((stat.st_ino, stat.st_mtime_ns) for stat in stats)
