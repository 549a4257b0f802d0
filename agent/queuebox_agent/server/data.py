"""The data port: what the outside may call (spec page 27)."""

from collections.abc import Iterable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from queuebox_agent.server.answer import answer
from queuebox_agent.server.gate import Gate
from queuebox_agent.server.management import LIVE


def data_application(routes: Iterable[web.RouteDef], gate: Gate, max_body_bytes: int) -> web.Application:
    """The root and `routes` behind the two rules of this port: no body above the cap, no new request during shutdown.

    A handler gets the body through `request.read()`, which counts a body that declares no length.
    """
    application = web.Application(middlewares=[_admission(gate, max_body_bytes)], client_max_size=max_body_bytes)
    application.add_routes([web.get("/", _root), *routes])
    return application


async def _root(_: web.Request) -> web.Response:
    return web.Response(text="QueueBox is running!")


def _admission(gate: Gate, max_body_bytes: int) -> Middleware:
    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        if (request.content_length or 0) > max_body_bytes:
            return _too_large(max_body_bytes)
        if gate.draining and request.path != LIVE:
            return _shutting_down()
        with gate.request():
            try:
                return await handler(request)
            except web.HTTPRequestEntityTooLarge:
                return _too_large(max_body_bytes)

    return admit


def _too_large(max_body_bytes: int) -> web.Response:
    return answer({"error": f"Request body exceeds {max_body_bytes} bytes"}, 413)


def _shutting_down() -> web.Response:
    refusal = answer({"error": "QueueBox is shutting down"}, 503)
    # The client's next request shall reach another replica, not this connection.
    refusal.force_close()
    return refusal
