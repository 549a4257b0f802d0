"""Where the API server is and who asks: the service account of the pod, or a kubeconfig."""

import base64
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from typing_extensions import override

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class NoCredentials(Exception):
    """Nothing says where the API server is, or the kubeconfig cannot be used."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to reach one API server. Secrets are in no `repr`."""

    server: str
    namespace: str
    tls: ssl.SSLContext
    _token: str = ""
    _token_file: Path | None = None

    def token(self) -> str:
        """The bearer token as it is now, empty for none: a file is read again, since a mounted token is replaced."""
        return self._token_file.read_text().strip() if self._token_file else self._token

    @override
    def __repr__(self) -> str:
        return f"Credentials({self.server!r})"


def credentials() -> Credentials:
    """What KUBECONFIG names, else the service account of this pod, else ~/.kube/config; else raises NoCredentials."""
    named = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    if named:
        return from_kubeconfig(*named)
    if host := os.environ.get("KUBERNETES_SERVICE_HOST"):
        return from_service_account(host, os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
    usual = Path.home() / ".kube" / "config"
    if usual.exists():
        return from_kubeconfig(usual)
    raise NoCredentials("neither KUBECONFIG nor a service account says where the API server is")


def from_service_account(host: str, port: str, folder: Path = SERVICE_ACCOUNT) -> Credentials:
    """Those of the pod in which this process runs."""
    try:
        namespace = (folder / "namespace").read_text().strip()
        tls = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    except OSError as error:
        raise NoCredentials(f"the service account is not mounted: {error}") from None
    shown = f"[{host}]" if ":" in host else host
    return Credentials(f"https://{shown}:{port}", namespace, tls, _token_file=folder / "token")


def from_kubeconfig(*paths: Path) -> Credentials:
    """Those of the current context. Of several files the first that says a thing counts."""
    given = _merged(paths)
    context = _named(given, "contexts", given.get("current-context")).get("context") or {}
    cluster = _named(given, "clusters", context.get("cluster")).get("cluster") or {}
    user = _named(given, "users", context.get("user")).get("user") or {}
    if not cluster.get("server"):
        raise NoCredentials(f"{_names(paths)} names no server in its current context")
    if unsupported := {"exec", "auth-provider"} & user.keys():
        raise NoCredentials(f"{_names(paths)}: `{min(unsupported)}` is not supported; use a token or a certificate")
    token_file = Path(user["tokenFile"]) if user.get("tokenFile") else None
    namespace = context.get("namespace") or "default"
    try:
        tls = _tls(cluster, user)
    except (OSError, ValueError) as error:
        raise NoCredentials(f"{_names(paths)}: a certificate or key cannot be read: {type(error).__name__}") from None
    return Credentials(cluster["server"].rstrip("/"), namespace, tls, user.get("token") or "", token_file)


def _merged(paths: tuple[Path, ...]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            read = yaml.safe_load(path.read_text())
        except (OSError, yaml.YAMLError) as error:
            raise NoCredentials(f"{path} cannot be read: {type(error).__name__}") from None
        for key, value in (read if isinstance(read, Mapping) else {}).items():
            if isinstance(value, list):
                merged[key] = merged.get(key, []) + [_placed(item, path.parent) for item in value]
            else:
                merged.setdefault(key, value)
    return merged


def _placed(item: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """File names in a kubeconfig are relative to it."""
    files = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
    return {
        key: {name: str(folder / text) if name in files and text else text for name, text in value.items()}
        if isinstance(value, Mapping)
        else value
        for key, value in item.items()
    }


def _named(given: Mapping[str, Any], part: str, name: object) -> Mapping[str, Any]:
    return next((item for item in given.get(part) or () if item.get("name") == name), {})


def _names(paths: tuple[Path, ...]) -> str:
    return os.pathsep.join(map(str, paths))


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    authority = base64.b64decode(cluster.get("certificate-authority-data") or "").decode()
    tls = ssl.create_default_context(cafile=cluster.get("certificate-authority"), cadata=authority or None)
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    if user.get("client-certificate"):
        tls.load_cert_chain(user["client-certificate"], user.get("client-key"))
    elif user.get("client-certificate-data"):
        with TemporaryDirectory() as folder:  # the library reads keys from files alone
            certificate, key = Path(folder, "certificate"), Path(folder, "key")
            certificate.write_bytes(base64.b64decode(user["client-certificate-data"]))
            key.write_bytes(base64.b64decode(user.get("client-key-data") or ""))
            tls.load_cert_chain(certificate, key)
    return tls
