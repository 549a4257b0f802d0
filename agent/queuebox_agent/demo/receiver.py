import asyncio
import random
from collections import defaultdict
from dataclasses import dataclass, field

from aiohttp import web

FAILS, IS_SLOW, DROPS_BEFORE, DROPS_AFTER = 0.02, 0.02, 0.005, 0.005
"""How often the receiver answers 503, takes its time, or drops the connection before or after it has kept a message."""
SLOW_SECONDS = 0.4


@dataclass(slots=True)
class Arrivals:
    """What a receiver that deduplicates on X-Message-Id has seen. Steps of an order count from 1."""

    steps: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    seen: set[str] = field(default_factory=set)
    refused: int = 0
    duplicates: int = 0
    violations: int = 0

    def keep(self, message_id: str, order: str, step: int) -> None:
        """Take a message. A repeat changes nothing; a step that is not the next one of its order is a violation."""
        if message_id in self.seen:
            self.duplicates += 1
            return
        self.seen.add(message_id)
        self.violations += step != self.steps[order] + 1
        self.steps[order] = max(step, self.steps[order])


class Receiver:
    """An HTTP endpoint with the faults of a real one."""

    def __init__(self, port: int, chance: random.Random) -> None:
        self.arrivals = Arrivals()
        self._chance = chance
        application = web.Application()
        application.add_routes([web.post("/orders", self._take)])
        self._runner = web.AppRunner(application, access_log=None)
        self._port = port

    async def start(self) -> None:
        """Listen on 127.0.0.1."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()

    async def stop(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.json()
        luck = self._chance.random()
        if luck < FAILS:
            self.arrivals.refused += 1
            raise web.HTTPServiceUnavailable(text="try again")
        if luck < FAILS + IS_SLOW:
            await asyncio.sleep(SLOW_SECONDS)
        elif luck < FAILS + IS_SLOW + DROPS_BEFORE:
            self.arrivals.refused += 1
            return self._drop(request)
        self.arrivals.keep(request.headers["X-Message-Id"], body["order"], body["step"])
        return self._drop(request) if luck > 1 - DROPS_AFTER else web.Response()

    @staticmethod
    def _drop(request: web.Request) -> web.Response:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()
