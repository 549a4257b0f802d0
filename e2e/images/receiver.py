"""An HTTP endpoint that remembers what it got.

`POST /<box>` is a delivery; a header `X-Takes` says for how many seconds it is worked on. `GET /received/<box>/<topic>`
is the list of what came with this topic, in order of arrival. `GET /count/<box>/<topic>` says how many different
messages those are, and shows the last one.
"""

import asyncio
import time
from collections import defaultdict
from typing import Any, NamedTuple

from aiohttp import web


class Heap(NamedTuple):
    """What came for one box with one topic."""

    deliveries: list[dict[str, Any]]
    ids: set[str]


Received = defaultdict[tuple[str, str], Heap]
RECEIVED = web.AppKey("received", Received)


async def deliver(request: web.Request) -> web.Response:
    headers, at = request.headers, time.time()
    body = await request.json()
    heap = request.app[RECEIVED][request.match_info["box"], headers["X-Topic"]]
    heap.ids.add(headers["X-Message-Id"])
    heap.deliveries.append(
        {
            "id": headers["X-Message-Id"], "topic": headers["X-Topic"], "key": headers.get("X-Message-Key"),
            "attempt": int(headers["X-Attempt"]), "authorization": headers.get("Authorization"), "body": body, "at": at,
        }
    )  # fmt: skip
    if takes := headers.get("X-Takes"):
        await working_for(float(takes))
    return web.Response(status=204)


async def working_for(seconds: float) -> None:
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    await over.wait()


def asked(request: web.Request) -> Heap:
    return request.app[RECEIVED][request.match_info["box"], request.match_info["topic"]]


async def received(request: web.Request) -> web.Response:
    return web.json_response(asked(request).deliveries)


async def count(request: web.Request) -> web.Response:
    heap = asked(request)
    return web.json_response({"messages": len(heap.ids), "last": heap.deliveries[-1] if heap.deliveries else None})


def application() -> web.Application:
    app = web.Application()
    app[RECEIVED] = Received(lambda: Heap([], set()))
    app.add_routes(
        [
            web.get("/received/{box}/{topic}", received),
            web.get("/count/{box}/{topic}", count),
            web.post("/{box}", deliver),
        ]
    )
    return app


if __name__ == "__main__":
    web.run_app(application(), port=8080, access_log=None)
