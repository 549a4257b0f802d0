"""docs/reference/headers.md names what is sent, and nothing else."""

import re
from pathlib import Path

from contract.publisher import delivery
from queuebox_agent.broker.http.headers import NOT_FOR_ROWS
from services.http_destination import publishing
from services.receiver import Receiver

PAGE = (Path(__file__).parents[2] / "docs/reference/headers.md").read_text()
OF_HTTP_ITSELF = {"Host", "Content-Length"}


async def test_the_page_names_every_header_that_is_sent_and_no_other() -> None:
    table = PAGE.partition("## The headers of every delivery")[2].partition("##")[0]
    told = set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)) | set(re.findall(r"`([A-Z][\w-]+): ", table))
    async with Receiver() as receiver, publishing(receiver.url) as publisher:
        await publisher.publish(delivery(key="k"))
    assert told == {name for name, _ in receiver.last.headers} - OF_HTTP_ITSELF


def test_the_page_names_every_header_that_is_not_taken_from_a_row() -> None:
    [sentence] = re.findall(r"never taken from a row: ([^.]*)\.", PAGE)
    assert {name.lower() for name in re.findall(r"`([^`]+)`", sentence)} == NOT_FOR_ROWS
