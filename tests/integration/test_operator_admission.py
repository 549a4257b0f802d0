"""The webhook before a real API server: `kubectl apply` says what is wrong."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from queuebox_agent.demo.postgres import free_port
from services.apiserver import ApiServer
from services.boxes import Json, Namespace, box, destination
from services.operators import operator
from services.tls import certificate, needs_openssl
from services.waiting import until

pytestmark = [pytest.mark.kubernetes, needs_openssl]

BROKEN = destination(transform={"expression": "$sum("})


def configuration(port: int, certificate_file: Path) -> Json:
    """As the component of the manifests has it, but with an address in place of a Service."""
    rule = {
        "apiGroups": ["queuebox.dev"], "apiVersions": ["v1alpha1"], "operations": ["CREATE", "UPDATE"],
        "resources": ["queueboxes", "sources", "destinations", "routes"],
    }  # fmt: skip
    bundle = base64.b64encode(certificate_file.read_bytes()).decode()
    webhook = {
        "name": "validate.queuebox.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "failurePolicy": "Fail", "timeoutSeconds": 5, "rules": [rule],
        "clientConfig": {"url": f"https://127.0.0.1:{port}/validate", "caBundle": bundle},
    }  # fmt: skip
    return {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "queuebox-operator"}, "webhooks": [webhook],
    }  # fmt: skip


@pytest.fixture
async def shop(own_api_server: ApiServer, tmp_path: Path) -> AsyncIterator[Namespace]:
    """A namespace whose resources are looked at before they are stored."""
    certificate(tmp_path)
    (tmp_path / "certificate.pem").rename(tmp_path / "tls.crt")
    (tmp_path / "key.pem").rename(tmp_path / "tls.key")
    port, cluster = free_port(), own_api_server.cluster
    async with operator(cluster.kubeconfig, f"--webhook-cert-dir={tmp_path}", f"--webhook-port={port}"):
        cluster.apply(configuration(port, tmp_path / "tls.crt"))
        shop = Namespace(cluster, "default")
        await until(lambda: is_looked_at(shop), 10, "the webhook to be asked", every=0.2)
        yield shop


def is_looked_at(shop: Namespace) -> bool:
    """The API server hears of the configuration a moment after it has stored it."""
    try:
        refused(shop, BROKEN, "--dry-run=server")
    except AssertionError:
        return False
    return True


def refused(shop: Namespace, resource: Json, *options: str) -> str:
    command = ("apply", "--filename=-", f"--namespace={shop.name}", *options)
    return shop.cluster.kubectl(*command, stdin=yaml.safe_dump(resource), refused=True)


async def test_what_is_right_is_stored(shop: Namespace) -> None:
    shop.cluster.kubectl("apply", "-f", "-", "-n", shop.name, stdin=yaml.safe_dump_all([box(), destination()]))
    assert shop.there("Destination", "orders")


async def test_an_expression_that_does_not_compile_is_refused_with_its_place(shop: Namespace) -> None:
    said = refused(shop, BROKEN)
    assert 'admission webhook "validate.queuebox.dev" denied the request' in said
    assert "spec.transform.expression: at character " in said
    assert not shop.there("Destination", "orders")
