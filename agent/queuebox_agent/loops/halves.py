from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from queuebox_agent.errors import Unavailable

Item = TypeVar("Item")
Answer = TypeVar("Answer")


async def in_halves(
    items: Sequence[Item], write: Callable[[Sequence[Item]], Awaitable[Answer]]
) -> AsyncIterator[tuple[Sequence[Item], Answer | Exception]]:
    """Write a batch; where that fails, its halves, and so on, so that one item that cannot be written fails alone.

    Yields each part with its answer, or the one item left over with what was raised. Raises Unavailable at once: then
    no item is at fault.
    """
    parts = [items]
    while parts:
        part = parts.pop()
        try:
            answer = await write(part)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001  whatever one item does to a write, the others must be written
            if len(part) == 1:
                yield part, error
            else:
                middle = len(part) // 2
                parts += [part[middle:], part[:middle]]
        else:
            yield part, answer
