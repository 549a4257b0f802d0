import json
import re
import time
from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_agent.domain import redact as module
from queuebox_agent.domain.redact import MASK, is_secret_header, redact


class Case(TypedDict):
    rule: str
    text: str
    want: str


CORPUS: list[Case] = json.loads((Path(__file__).parents[1] / "golden/redaction.json").read_text())
FRAGMENTS = [
    "password=", '"token":"', "Bearer ", "digest a=", "://", ":/", "@", "\\", '"', "'", ";", "x", " ", "\n", "[", "{",
    "cookie:", "a.b-c_d", "0", ",", "&", "=", ";token=", "basic ", '\\"secret\\":\\"',
]  # fmt: skip


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: f"{case['rule']}: {case['text']}")
def test_the_corpus(case: Case) -> None:
    assert redact(case["text"]) == case["want"]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["text"])
def test_masked_text_stays_as_it_is(case: Case) -> None:
    assert redact(case["want"]) == case["want"]


@given(st.text("abc ,;:=@/\"'\\{}[]&\n\0é", max_size=40), st.sampled_from(["p", "pass word", "db.pwd"]))
def test_no_quoted_password_is_left_in_json_text(secret: str, prefix: str) -> None:
    document = json.dumps({f"{prefix}password": f"s3cr3t{secret}s3cr3t", "n": 1})
    assert "s3cr3t" not in redact(document)


@given(st.text("abc ,;:=@/'\\{}[]&\n\t", max_size=40).filter(lambda secret: "://" not in secret))
def test_no_password_with_a_user_is_left_in_a_url(secret: str) -> None:
    assert "s3cr3t" not in redact(f"amqp://user:s3cr3t{secret}s3cr3t@host/v")


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=300).map("".join))
def test_any_text_is_redacted(text: str) -> None:
    assert isinstance(redact(text), str)


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_cost_grows_with_the_length_only(fragment: str) -> None:
    def cost(characters: int) -> float:
        text = fragment * (characters // len(fragment))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    shorter = min(cost(25_000) for _ in range(3))
    assert min(cost(100_000) for _ in range(3)) < 9 * max(shorter, 0.005)


def test_no_pattern_can_go_back_over_an_open_repetition() -> None:
    patterns = [value.pattern for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert patterns
    for pattern in patterns:
        without_classes = re.sub(r"\[(?:[^\]\\]|\\.)*\]", "C", pattern)
        assert not re.findall(r"(?<!\\)(?<![*+?}])[*+](?![+])", without_classes), pattern


def test_known_secrets_are_masked_wherever_they_stand() -> None:
    assert redact("the key hunter2 is wrong", ["hunter2"]) == f"the key {MASK} is wrong"


def test_a_very_short_known_secret_is_no_reason_to_mask_a_text() -> None:
    assert redact("a plain text", ["a", ""]) == "a plain text"


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Proxy-Authorization", "COOKIE", "Set-Cookie", "X-Api-Key", "x-apikey", "X-Auth-Token",
     "client-secret", "X-Password"],
)  # fmt: skip
def test_a_header_that_carries_a_secret(name: str) -> None:
    assert is_secret_header(name)


@pytest.mark.parametrize("name", ["X-Source", "Content-Type", "X-Authorized-By"])
def test_a_header_that_carries_none(name: str) -> None:
    assert not is_secret_header(name)
