"""What a test does to a cluster and asks it, with the official client and kubectl: nothing of the product's own."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml
from kubernetes import client, config, dynamic
from urllib3.exceptions import HTTPError

Json = dict[str, Any]
PREFERRED = {"Event": "v1"}
"""Kinds that several groups serve, and the group that tests mean."""


class Refused(Exception):
    """The API server said no."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message


class Cluster:
    """One cluster by its kubeconfig. Refusals are raised as `Refused` with the server's own message."""

    def __init__(self, kubeconfig: Path, kubectl: Path | None = None) -> None:
        self.kubeconfig = kubeconfig
        self._kubectl = kubectl or shutil.which("kubectl")

    def apply(
        self, *objects: Mapping[str, Any] | str, namespace: str | None = None, manager: str = "tests"
    ) -> list[Json]:
        """Server-side apply of objects or YAML text, forced and strict; what the server then holds, in this order."""
        return [self._apply(one, namespace, manager) for one in flattened(objects)]

    def apply_status(self, wanted: Mapping[str, Any], namespace: str | None = None, manager: str = "tests") -> Json:
        """The `status` alone, as the controller of that kind would write it."""
        return self._apply(wanted, namespace, manager, "status")

    def get(self, kind: str, name: str, namespace: str | None = None) -> Json | None:
        """None when it is not there."""
        try:
            return self._asked(self._path(kind, namespace, name), "GET")
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def list(self, kind: str, namespace: str | None = None, labels: str = "") -> list[Json]:
        found: list[Json] = self._asked(self._path(kind, namespace), "GET", query={"labelSelector": labels})["items"]
        return found

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Nothing happens when it is not there."""
        try:
            self._asked(self._path(kind, namespace, name), "DELETE")
        except Refused as refused:
            if refused.status != 404:
                raise

    def patch(self, kind: str, name: str, patch: Mapping[str, Any], namespace: str | None = None) -> Json:
        """A merge patch, as somebody with an editor makes it."""
        return self._asked(self._path(kind, namespace, name), "PATCH", patch, "application/merge-patch+json")

    def replace(self, kind: str, wanted: Mapping[str, Any]) -> Json:
        """A whole object; a conflict when its resourceVersion is old."""
        meta = wanted["metadata"]
        return self._asked(self._path(kind, meta.get("namespace"), meta["name"]), "PUT", wanted)

    def ask(self, path: str) -> Any:
        """What the server answers to a GET of this path, as JSON; also through its proxy to a Service."""
        return self._asked(path, "GET")

    def token(self, account: str, namespace: str) -> str:
        """For the pods of a service account, which exists already."""
        wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        given: str = self._asked(path, "POST", wanted)["status"]["token"]
        return given

    def kubectl(self, *arguments: str, stdin: str = "", refused: bool = False) -> str:
        """What the command prints; with `refused` it has to fail, and what it says is given."""
        assert self._kubectl, "no kubectl program"
        command = [str(self._kubectl), f"--kubeconfig={self.kubeconfig}", *arguments]
        ended = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=90, check=False)
        assert (ended.returncode != 0) == refused, ended.stdout + ended.stderr
        return ended.stderr if refused else ended.stdout

    def _apply(self, wanted: Mapping[str, Any], namespace: str | None, manager: str, subresource: str = "") -> Json:
        meta = wanted["metadata"]
        path = self._path(wanted["kind"], meta.get("namespace", namespace), meta["name"], wanted["apiVersion"])
        query = {"fieldManager": manager, "force": "true", "fieldValidation": "Strict"}
        path += f"/{subresource}" if subresource else ""
        return self._asked(path, "PATCH", wanted, "application/apply-patch+yaml", query)

    @cached_property
    def _api(self) -> client.ApiClient:
        return config.new_client_from_config(str(self.kubeconfig))

    @cached_property
    def _kinds(self) -> dynamic.DynamicClient:
        return dynamic.DynamicClient(self._api, cache_file=f"{self.kubeconfig}.discovered-{id(self)}")

    def _path(self, kind: str, namespace: str | None, name: str | None = None, version: str | None = None) -> str:
        wanted = version or PREFERRED.get(kind)
        found = self._kinds.resources.get(kind=kind, **({"api_version": wanted} if wanted else {}))
        path: str = found.path(name=name, namespace=namespace if found.namespaced else None)
        return path

    def _asked(
        self,
        path: str,
        method: str,
        body: Any = None,
        form: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> Json:
        answer = request(self._api, method, f"{path}?{urlencode(query or {})}", body, form)
        given: Json = json.loads(answer.data)
        if answer.status >= 400:
            raise Refused(answer.status, given.get("reason", ""), given.get("message", ""))
        return given


def request(api: client.ApiClient, method: str, path: str, body: Any, form: str) -> urllib3.BaseHTTPResponse:
    """One request with the credentials of a kubeconfig, whatever its content is."""
    headers = {"Accept": "application/json", "Content-Type": form}
    api.update_params_for_auth(headers, {}, ["BearerToken"], path, method, body)
    content = None if body is None else json.dumps(body)
    answer: urllib3.BaseHTTPResponse = api.rest_client.pool_manager.request(
        method, api.configuration.host + path, body=content, headers=headers, timeout=30, retries=False
    )
    return answer


def flattened(objects: tuple[Mapping[str, Any] | str, ...]) -> list[Mapping[str, Any]]:
    """Each document of each YAML text, and the objects."""
    found: list[Mapping[str, Any]] = []
    for one in objects:
        found += [document for document in yaml.safe_load_all(one) if document] if isinstance(one, str) else [one]
    return found


def answers(kubeconfig: Path) -> bool:
    """Whether an API server says that it is ready."""
    try:
        with config.new_client_from_config(str(kubeconfig)) as api:
            return request(api, "GET", "/readyz", None, "application/json").status == 200
    except (HTTPError, OSError):
        return False
