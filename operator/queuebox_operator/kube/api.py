"""The calls that the operator makes to the API server; each gives what the server then holds, or raises ApiError."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from typing_extensions import override

from queuebox_operator import errors
from queuebox_operator.facts import Manifest, Ref
from queuebox_operator.kube.kinds import PLACES, path_of, path_to

MANAGER, STATUS_MANAGER = "queuebox-operator", "queuebox-operator-status"
JSON, MERGE, APPLY = "application/json", "application/merge-patch+json", "application/apply-patch+yaml"
SECONDS = 4.0
"""A write that takes longer is given up: it is shorter than the time between a leader's deadline and its successor."""
LIST_SECONDS = 30.0
NO_OBJECT_OF_ITS_KIND = "failed to create typed patch object"
"""How the message of an apply begins whose content no schema knows. The status is 500; trying again changes nothing."""
KINDS_OF_ERROR = {
    400: errors.Invalid,
    401: errors.Forbidden,
    403: errors.Forbidden,
    404: errors.NotFound,
    408: errors.Unavailable,
    409: errors.Conflict,
    410: errors.Gone,
    413: errors.Invalid,
    422: errors.Invalid,
    429: errors.Unavailable,
}


class Fenced(aiohttp.BytesPayload):
    """A body that asks for permission when its bytes leave: after any wait for a connection, after any pause."""

    def __init__(self, content: object, form: str, may_write: Callable[[], bool]) -> None:
        super().__init__(json.dumps(content, separators=(",", ":")).encode(), content_type=form)
        self._may_write = may_write

    @override
    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        if not self._may_write():
            raise errors.NotLeader
        await super().write_with_length(writer, content_length)


class Call(NamedTuple):
    """One write: what it is called in metrics, where it goes and what it carries."""

    verb: str
    ref: Ref
    method: str
    form: str
    content: Manifest
    query: Mapping[str, str] = MappingProxyType({})
    subresource: str = ""
    seconds: float = SECONDS

    @property
    def path(self) -> str:
        """A new object goes where its kind is."""
        return path_of(self.ref.kind, self.ref.namespace) if self.method == "POST" else path_to(self.ref)


class Api:
    """`may_write` is the lease's word on every write; `wrote` hears the kind and the verb of each that is sent."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        may_write: Callable[[], bool] = lambda: True,
        wrote: Callable[[str, str], None] = lambda *_: None,
    ) -> None:
        self._http, self._may_write, self._wrote = http, may_write, wrote
        self._flights: set[asyncio.Task[dict[str, Any]]] = set()

    async def get(self, ref: Ref, seconds: float = SECONDS) -> dict[str, Any]:
        """The object; NotFound when it is not there."""
        return await self._call("GET", path_to(ref), seconds)

    async def list(
        self, kind: str, namespace: str | None = None, labels: str = "", name: str = ""
    ) -> list[dict[str, Any]]:
        """All objects of a kind, or that one, in one namespace or in all."""
        selectors = {"labelSelector": labels, "fieldSelector": name and f"metadata.name={name}"}
        query = {selector: value for selector, value in selectors.items() if value}
        page = await self._call("GET", path_of(kind, namespace), LIST_SECONDS, query)
        return page["items"] or []

    async def create(self, ref: Ref, wanted: Manifest, seconds: float = SECONDS) -> dict[str, Any]:
        """A new object; a Conflict when it is there already."""
        return await self._write(Call("create", ref, "POST", JSON, wanted, {"fieldManager": MANAGER}, seconds=seconds))

    async def replace(self, ref: Ref, wanted: Manifest, seconds: float = SECONDS) -> dict[str, Any]:
        """The whole object; a Conflict when its resourceVersion is not the last."""
        return await self._write(Call("update", ref, "PUT", JSON, wanted, {"fieldManager": MANAGER}, seconds=seconds))

    async def apply(self, wanted: Manifest, *, force: bool = True) -> dict[str, Any]:
        """Server-side apply, which takes fields from others unless told not to: then it is a Conflict.

        Equal content changes nothing, not even resourceVersion.
        """
        meta = wanted["metadata"]
        ref = Ref(wanted["kind"], meta["namespace"], meta["name"])
        return await self._write(Call("apply", ref, "PATCH", APPLY, wanted, _applying(MANAGER, force=force)))

    async def apply_status(self, ref: Ref, status: Manifest) -> dict[str, Any]:
        """The whole status of an object; NotFound when the object is gone, which is not made again."""
        meta = {"name": ref.name, "namespace": ref.namespace}
        wanted = {"apiVersion": PLACES[ref.kind].version, "kind": ref.kind, "metadata": meta, "status": status}
        return await self._write(
            Call("apply", ref, "PATCH", APPLY, wanted, _applying(STATUS_MANAGER), subresource="/status")
        )

    async def patch(self, ref: Ref, patch: Manifest) -> dict[str, Any]:
        """A merge patch."""
        return await self._write(Call("patch", ref, "PATCH", MERGE, patch, {"fieldManager": MANAGER}))

    async def delete(self, ref: Ref, uid: str | None = None) -> None:
        """Delete it and, after it, what it owns; with `uid` only that very object. It may be gone already."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        with suppress(errors.NotFound):
            await self._write(Call("delete", ref, "DELETE", JSON, options))

    async def landed(self) -> None:
        """Until no write is under way: to be awaited before the lease is given back."""
        if self._flights:
            await asyncio.wait(self._flights)

    async def _write(self, call: Call) -> dict[str, Any]:
        if not self._may_write():
            raise errors.NotLeader
        self._wrote(call.ref.kind, call.verb)
        body = Fenced(call.content, call.form, self._may_write)
        path = call.path + call.subresource
        # Shielded: the server may finish what a cancelled client has sent, so its end is awaited by `landed`.
        flight = asyncio.create_task(self._call(call.method, path, call.seconds, call.query, body))
        self._flights.add(flight)
        flight.add_done_callback(self._has_landed)
        return await asyncio.shield(flight)

    def _has_landed(self, flight: asyncio.Task[dict[str, Any]]) -> None:
        self._flights.discard(flight)
        if not flight.cancelled():
            flight.exception()  # seen, even when nobody waits any more

    async def _call(
        self, method: str, path: str, seconds: float, query: Mapping[str, str] | None = None, body: Fenced | None = None
    ) -> dict[str, Any]:
        timeout = aiohttp.ClientTimeout(seconds)
        try:
            async with self._http.request(method, path, data=body, params=query, timeout=timeout) as response:
                text = await response.read()
                if response.status >= HTTPStatus.BAD_REQUEST:
                    raise refusal(response.status, text)
                answer: dict[str, Any] = json.loads(text)
                return answer
        except (aiohttp.ClientError, OSError, ValueError) as error:  # OSError: of a timeout, and of the token file
            if isinstance(error.__cause__, errors.NotLeader):
                raise errors.NotLeader from None
            raise errors.Unavailable(0, type(error).__name__, f"{method} {path}: no answer") from error


def _applying(manager: str, *, force: bool = True) -> dict[str, str]:
    return {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}


def refusal(status: int, text: bytes) -> errors.ApiError:
    """The error of an answer. What is no Status object is not quoted: nobody knows who sent it."""
    try:
        said = json.loads(text)
        reason, message = str(said.get("reason", "")), str(said.get("message", ""))
    except (ValueError, AttributeError):
        reason, message = "", "an answer that is no Status"
    if message.startswith(NO_OBJECT_OF_ITS_KIND):
        return errors.Invalid(status, reason, message)
    server_trouble = errors.Unavailable if status >= HTTPStatus.INTERNAL_SERVER_ERROR else errors.ApiError
    return KINDS_OF_ERROR.get(status, server_trouble)(status, reason, message)
