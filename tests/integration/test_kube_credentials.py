"""Who the operator is to a real API server."""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from queuebox_operator.errors import Forbidden, Unavailable
from queuebox_operator.kube import session
from queuebox_operator.kube.api import Api
from queuebox_operator.kube.credentials import (
    Credentials,
    NoCredentials,
    credentials,
    from_kubeconfig,
    from_service_account,
)
from queuebox_operator.kube.session import open_session
from services.apiserver import ApiServer, missing, running_api_server

pytestmark = pytest.mark.kubernetes


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    """One for all of them: who asks is all that they change."""
    if reason := missing():
        pytest.skip(reason)
    with running_api_server() as running:
        yield running


async def secrets_of(who: Credentials) -> int:
    async with open_session(who) as http:
        return len(await Api(http).list("Secret", "default"))


def changed(kubeconfig: Path, to: Path, **user_or_cluster: dict[str, Any]) -> Path:
    """A copy of a kubeconfig with another user or cluster."""
    given = json.loads(kubeconfig.read_text())
    for part, content in user_or_cluster.items():
        given[f"{part}s"][0][part] = content
    to.write_text(yaml.safe_dump(given))
    return to


async def test_an_administrator_by_token(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
    assert await secrets_of(credentials()) == 0


async def test_an_administrator_by_certificate(server: ApiServer) -> None:
    assert await secrets_of(from_kubeconfig(server.certificate_kubeconfig)) == 0


async def test_a_kubeconfig_that_holds_its_certificates(server: ApiServer, tmp_path: Path) -> None:
    given = json.loads(server.certificate_kubeconfig.read_text())
    user, cluster = given["users"][0]["user"], given["clusters"][0]["cluster"]

    def inlined(content: dict[str, str]) -> dict[str, str]:
        return {f"{key}-data": base64.b64encode(Path(name).read_bytes()).decode() for key, name in content.items()}

    address = {"server": cluster.pop("server")}
    file = changed(
        server.certificate_kubeconfig,
        tmp_path / "config",
        user=inlined(user),
        cluster=address | inlined(cluster),
    )
    assert await secrets_of(from_kubeconfig(file)) == 0


async def test_files_are_relative_to_the_kubeconfig(server: ApiServer, tmp_path: Path) -> None:
    given = json.loads(server.kubeconfig.read_text())
    cluster = given["clusters"][0]["cluster"]
    shutil.copy(cluster["certificate-authority"], tmp_path / "ca.crt")
    (tmp_path / "token").write_text(given["users"][0]["user"]["token"] + "\n")
    file = changed(
        server.kubeconfig,
        tmp_path / "config",
        user={"tokenFile": "token"},
        cluster=cluster | {"certificate-authority": "ca.crt"},
    )
    assert await secrets_of(from_kubeconfig(file)) == 0


async def test_a_server_that_another_authority_signed_is_not_talked_to(server: ApiServer, tmp_path: Path) -> None:
    unsigned = {"server": server.url}
    with pytest.raises(Unavailable):
        await secrets_of(from_kubeconfig(changed(server.kubeconfig, tmp_path / "config", cluster=unsigned)))


async def test_a_stranger_is_forbidden(server: ApiServer, tmp_path: Path) -> None:
    file = changed(server.kubeconfig, tmp_path / "config", user={"token": "nobody"})
    with pytest.raises(Forbidden):
        await secrets_of(from_kubeconfig(file))


async def test_the_service_account_of_a_pod_whose_token_is_replaced(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = json.loads(server.kubeconfig.read_text())
    shutil.copy(given["clusters"][0]["cluster"]["certificate-authority"], tmp_path / "ca.crt")
    (tmp_path / "namespace").write_text("default")
    (tmp_path / "token").write_text("expired")
    monkeypatch.setattr(session, "TOKEN_SECONDS", 0.0)
    host, port = server.url.removeprefix("https://").split(":")
    who = from_service_account(host, port, tmp_path)
    async with open_session(who) as http:
        with pytest.raises(Forbidden):
            await Api(http).list("Secret", "default")
        (tmp_path / "token").write_text(given["users"][0]["user"]["token"])
        assert await Api(http).list("Secret", "default") == []
    assert who.namespace == "default"


async def test_what_asks_a_program_for_a_token_is_refused_with_its_reason(server: ApiServer, tmp_path: Path) -> None:
    file = changed(server.kubeconfig, tmp_path / "config", user={"exec": {"command": "login"}})
    with pytest.raises(NoCredentials, match="`exec` is not supported"):
        from_kubeconfig(file)


async def test_credentials_show_no_secret(server: ApiServer) -> None:
    token = json.loads(server.kubeconfig.read_text())["users"][0]["user"]["token"]
    assert token not in repr(from_kubeconfig(server.kubeconfig))
