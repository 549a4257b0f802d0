"""kopf lists and watches; what it hears keeps the view of the cluster current. It writes to no object."""

import asyncio
import functools
import json
import logging
import random
import time
from collections.abc import Collection, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import kopf
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
from typing_extensions import override

from queuebox_operator.kube.credentials import Credentials
from queuebox_operator.kube.kinds import MANAGED, OWNED, PLACES, RESOURCES, path_of
from queuebox_operator.kube.session import Sockets, open_session
from queuebox_operator.kube.view import View

CONNECT_SECONDS = 5
LIST_SECONDS = 30
WATCH_SECONDS = 300
IDLE_SECONDS = 0.5
GOODBYE_SECONDS = 1.0
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS, MOST_RETRIES = 0.1, 1.0, 120

log = logging.getLogger(__name__)


class Watched(NamedTuple):
    """A kind and which of its objects; `metadata_only`: their content never reaches this process."""

    kind: str
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False

    def accept(self, *, listing: bool) -> str:
        """The form in which the API server is to send them."""
        form = "PartialObjectMetadataList" if listing else "PartialObjectMetadata"
        return f"application/json;as={form};g=meta.k8s.io;v=v1" if self.metadata_only else "application/json"


UNINTERESTING = "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token"
"""Secrets that no box reads, and that a cluster has many of."""
WATCHED: Final = (
    *(Watched(kind) for kind in RESOURCES),
    Watched("Secret", fields=UNINTERESTING, metadata_only=True),
    *(Watched(kind, labels=MANAGED) for kind in OWNED),
)


class World(View):
    """The view of the cluster, kept current while `run` runs; `synced` is set once everything was listed."""

    def __init__(self, credentials: Credentials, namespaces: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.synced = asyncio.Event()
        self._credentials, self._namespaces = credentials, namespaces
        self._sockets = Sockets()
        self._asked: dict[str, float] = {}
        self._lists = {
            path_of(it.kind, namespace): (it, namespace) for it in WATCHED for namespace in namespaces or (None,)
        }

    def oldest_request(self) -> float:
        """Seconds since the last request of that watch that has been quiet for longest.

        Each is opened again after WATCH_SECONDS at the latest, and again and again while the API server is away.
        """
        return time.monotonic() - min(self._asked.values(), default=time.monotonic())

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set, or with an error when something is refused for good.

        kopf takes SIGTERM and SIGINT for itself when it starts: whoever runs this sets handlers after `synced`.
        """
        registry = kopf.OperatorRegistry()
        kopf.on.login(registry=registry)(self._login)
        for it in WATCHED:
            version, plural = PLACES[it.kind]
            on = kopf.on.event(version, plural, registry=registry, id=plural)
            on(functools.partial(self._heard, it.kind))
        where: dict[str, Any] = {"namespaces": self._namespaces} if self._namespaces else {"clusterwide": True}
        tasks = await kopf.spawn_tasks(registry=registry, settings=settings(), stop_flag=stop, **where)
        try:
            await kopf.run_tasks(tasks, ignored=Everything())
        finally:
            await self._sockets.closed(GOODBYE_SECONDS)

    async def _login(self, **_: object) -> kopf.AiohttpSession:
        session = open_session(self._credentials, self._passing, sockets=self._sockets)
        return kopf.AiohttpSession(server=self._credentials.server, aiohttp_session=session)

    async def _heard(self, kind: str, event: Mapping[str, Any], **_: object) -> None:
        self.cache.saw(kind, event["object"], gone=event["type"] == "DELETED")

    async def _passing(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Lists are read here, as a whole, since only a list says what is not there any more."""
        if request.url.path not in self._lists:
            return await handler(request)
        it, namespace = self._lists[request.url.path]
        self._asked[request.url.path] = time.monotonic()
        listing = "watch" not in request.url.query
        request.headers["Accept"] = it.accept(listing=listing)
        response = await handler(request)
        if listing and response.status == HTTPStatus.OK:
            page = json.loads(await response.read())
            self._listed(it.kind, namespace, page)
            # kopf would hold each item for a while and has nothing to do with it: it goes on from the version alone.
            response._body = json.dumps(page | {"items": []}).encode()  # noqa: SLF001  no public way to answer for it
        return response

    def _listed(self, kind: str, namespace: str | None, page: Mapping[str, Any]) -> None:
        self.cache.replace(kind, namespace, int(page["metadata"]["resourceVersion"]), page["items"] or ())
        if all(self.cache.listed(it.kind, place) for it, place in self._lists.values()):
            self.synced.set()


def settings() -> kopf.OperatorSettings:
    """What makes kopf an informer that writes nothing and comes back soon after a break."""
    chosen = kopf.OperatorSettings()
    for it in WATCHED:
        place = PLACES[it.kind]
        key = (place.group, place.version.rpartition("/")[2], place.plural)
        if it.labels:
            chosen.watching.label_selectors[key] = it.labels
        if it.fields:
            chosen.watching.field_selectors[key] = it.fields
    chosen.process.ultimate_exiting_timeout = None  # its end is not the end of the process
    chosen.posting.enabled = False
    chosen.peering.standalone = True
    chosen.scanning.disabled = True  # namespaces and CRDs are neither listed nor watched
    chosen.queueing.idle_timeout = IDLE_SECONDS  # kopf keeps a task per object for so long
    chosen.networking.error_backoffs = Backoffs()
    chosen.networking.request_timeout = LIST_SECONDS
    chosen.watching.connect_timeout = CONNECT_SECONDS
    chosen.watching.server_timeout = WATCH_SECONDS
    chosen.watching.client_timeout = WATCH_SECONDS + CONNECT_SECONDS
    return chosen


class Everything(Collection[Any]):
    """What kopf is to leave alone: at its end it would wait for, and cancel, each younger task of the whole loop."""

    @override
    def __contains__(self, _: object) -> bool:
        return True

    @override
    def __iter__(self) -> Iterator[Any]:
        return iter(())

    @override
    def __len__(self) -> int:
        return 0


class Backoffs:
    """Seconds between failed requests. kopf's own grow to 21: a watch would sleep when all is well again."""

    def __iter__(self) -> Iterator[float]:
        for times in range(MOST_RETRIES):
            longest = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** min(times, 10))
            yield longest * random.uniform(0.5, 1.5)  # noqa: S311  no secret hangs on it
