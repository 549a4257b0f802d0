"""The receiver of the benchmarks, a process of its own: an aiohttp server that reads the body and answers 200."""

import asyncio
import sys

from aiohttp import web


async def take(request: web.Request) -> web.Response:
    await request.read()
    return web.Response()


async def serve(port: int) -> None:
    application = web.Application()
    application.add_routes([web.post("/orders", take)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
