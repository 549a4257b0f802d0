"""A call that nobody answered is one error, whatever it was that went wrong."""

import ssl
from pathlib import Path

import pytest

from queuebox_operator.errors import Unavailable
from queuebox_operator.facts import Ref
from queuebox_operator.kube import session
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.credentials import Credentials


async def test_a_token_that_cannot_be_read_now_is_no_fault_that_ends_the_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "TOKEN_SECONDS", 0)
    token = tmp_path / "token"
    token.write_text("secret")
    who = Credentials("https://127.0.0.1:1", "shop", ssl.create_default_context(), _token_file=token)
    async with session.open_session(who) as http:
        token.unlink()
        with pytest.raises(Unavailable):
            await Api(http).get(Ref("Lease", "shop", "leader"))
