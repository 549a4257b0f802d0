import json

from aiohttp import web


def answer(body: object, status: int = 200) -> web.Response:
    """A JSON answer without blanks, as the pages show the bodies."""
    return web.Response(
        status=status, text=json.dumps(body, separators=(",", ":"), ensure_ascii=False), content_type="application/json"
    )
