"""Kubernetes for tests: an API server and an etcd of one's own on 127.0.0.1, or a throw-away cluster by its kubeconfig.

Only these two run. There is no controller: a Deployment makes no pod, an owner that goes takes nothing with it, and a
namespace that is deleted stays `Terminating` with all that is in it. There is no node either.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from queuebox_agent.demo.postgres import free_port
from services.cluster import Cluster, answers
from services.waiting import until_sync

KUBECONFIG_VARIABLE = "QUEUEBOX_TEST_KUBECONFIG"
ROOT = Path(__file__).parents[2]
UNPACKER = ROOT / ".." / "shared" / "cluster" / "cluster"
CRDS = ROOT / "crds"
TOKEN = "the-administrator-of-a-test"
READY_SECONDS = 60
NAMELESS = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


def programs() -> Path | None:
    """The folder of `etcd`, `kube-apiserver` and `kubectl`: KUBEBUILDER_ASSETS, or unpacked once on a machine."""
    if named := os.environ.get("KUBEBUILDER_ASSETS"):
        return Path(named)
    if not UNPACKER.exists():
        return None
    folder = Path(tempfile.gettempdir()) / f"queuebox-kubernetes-{os.geteuid()}"
    subprocess.run([UNPACKER, "assets", folder], check=True, capture_output=True)
    return folder


def missing() -> str:
    """Why no API server can be started here; empty when one can."""
    if programs() is None:
        return f"no Kubernetes API server: set {KUBECONFIG_VARIABLE} or KUBEBUILDER_ASSETS"
    return "" if shutil.which("openssl") else "no openssl program to make the keys of an API server"


def external_kubeconfig() -> Path | None:
    named = os.environ.get(KUBECONFIG_VARIABLE)
    return Path(named) if named else None


class ApiServer:
    """One API server and its etcd. The server may be killed, frozen and started again; what etcd holds stays."""

    def __init__(self, folder: Path, assets: Path) -> None:
        self._folder, self._assets = folder, assets
        self._etcd_port, self._port = free_port(), free_port()
        self._etcd: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self.kubeconfig = folder / "kubeconfig"
        """An administrator by token."""
        self.certificate_kubeconfig = folder / "certificate.kubeconfig"
        """The same administrator by client certificate."""

    @contextmanager
    def beside(self) -> Iterator["ApiServer"]:
        """Another API server on the same etcd: what is done there happens behind the back of this one's clients."""
        other = ApiServer(self._folder / "beside", self._assets)
        other._etcd_port = self._etcd_port
        other._folder.mkdir()
        other._prepare_files()
        try:
            other.start()
            yield other
        finally:
            other.kill()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.kubeconfig, self._assets / "kubectl")

    def prepare(self) -> None:
        """Make the keys and start etcd."""
        self._prepare_files()
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, free_port()))
        self._etcd = self._run(
            "etcd", f"--data-dir={self._folder}/etcd", "--unsafe-no-fsync", "--log-level=error",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
        )  # fmt: skip

    def start(self) -> None:
        """Start the API server and return when it is ready."""
        self._server = server = self._run(
            "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self._etcd_port}", "--authorization-mode=RBAC",
            "--bind-address=127.0.0.1", f"--secure-port={self._port}", f"--cert-dir={self._folder}/serving",
            "--service-cluster-ip-range=10.96.0.0/16", "--disable-admission-plugins=ServiceAccount",
            f"--token-auth-file={self._folder}/tokens.csv", f"--client-ca-file={self._folder}/ca.crt",
            "--service-account-issuer=https://kubernetes.default.svc", "--profiling=false",
            f"--service-account-key-file={self._folder}/accounts.key",
            f"--service-account-signing-key-file={self._folder}/accounts.key",
            f"--audit-policy-file={self._folder}/audit-policy.json", f"--audit-log-path={self._folder}/audit.log",
        )  # fmt: skip
        with suppress(AssertionError):
            until_sync(lambda: server.poll() is not None or self._ready(), READY_SECONDS, every=0.05)
        assert self._ready(), f"the API server does not start: {self._log('kube-apiserver')[-2000:]}"

    def kill(self) -> None:
        """End the API server at once; its connections break."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()

    def freeze(self) -> None:
        """Stop it in its tracks: connections stay open and nobody answers."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._server is not None
        self._server.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End both; nothing of them is kept."""
        self.kill()
        if self._etcd is not None:
            self._etcd.kill()
            self._etcd.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def calls(self) -> list[dict[str, Any]]:
        """What was asked so far, as audit events without bodies: `verb`, `user`, `objectRef`, `responseStatus`."""
        return [json.loads(line) for line in (self._folder / "audit.log").read_text().splitlines()]

    def kubeconfig_of(self, name: str, token: str) -> Path:
        """A file for somebody else, as `Cluster.token` names them."""
        return self._write_kubeconfig(self._folder / f"{name}.kubeconfig", {"token": token})

    def _prepare_files(self) -> None:
        self._make_keys()
        self._write_settings()

    def _ready(self) -> bool:
        return (self._folder / "serving" / "apiserver.crt").exists() and answers(self.kubeconfig)

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{program}.log").open("ab") as log:
            return subprocess.Popen([self._assets / program, *arguments], cwd=self._folder, stdout=log, stderr=log)

    def _log(self, program: str) -> str:
        return (self._folder / f"{program}.log").read_text(errors="replace")

    def _make_keys(self) -> None:
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "accounts.key")
        self._openssl(
            "req", "-x509", *NAMELESS, "-days", "2", "-subj", "/CN=tests", "-keyout", "ca.key", "-out", "ca.crt"
        )
        self._openssl(
            "req", "-x509", *NAMELESS, "-days", "2", "-subj", "/O=system:masters/CN=administrator",
            "-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", "client.key", "-out", "client.crt",
        )  # fmt: skip

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True)

    def _write_settings(self) -> None:
        (self._folder / "tokens.csv").write_text(f'{TOKEN},administrator,administrator,"system:masters"\n')
        (self._folder / "audit-policy.json").write_text(json.dumps(AUDIT_POLICY))
        self._write_kubeconfig(self.kubeconfig, {"token": TOKEN})
        certificate = {"client-certificate": f"{self._folder}/client.crt", "client-key": f"{self._folder}/client.key"}
        self._write_kubeconfig(self.certificate_kubeconfig, certificate)

    def _write_kubeconfig(self, path: Path, user: dict[str, str]) -> Path:
        cluster = {"server": self.url, "certificate-authority": f"{self._folder}/serving/apiserver.crt"}
        written = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}], "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "default"}}],
        }  # fmt: skip
        path.write_text(json.dumps(written))
        return path


@contextmanager
def running_api_server() -> Iterator[ApiServer]:
    """A server of the test's own, with the CRDs of the project; `missing()` says whether there can be one."""
    assets = programs()
    assert assets is not None
    server = ApiServer(Path(tempfile.mkdtemp(prefix="queuebox-apiserver-")), assets)
    try:
        server.prepare()
        server.start()
        install_crds(server.cluster)
        yield server
    finally:
        server.close()


def install_crds(cluster: Cluster) -> None:
    """The CRDs of the project, served when it returns."""
    files = sorted(CRDS.glob("*.yaml"))
    if files:
        cluster.apply(*(path.read_text() for path in files))
        cluster.kubectl(
            "wait", "--for=condition=Established", "--timeout=30s", *(f"--filename={path}" for path in files)
        )


@contextmanager
def new_namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace that is asked to go at the end; where no controller runs, its content stays."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        yield name
    finally:
        cluster.delete("Namespace", name)
