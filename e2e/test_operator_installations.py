"""Other ways to install the operator than for the whole cluster."""

import json
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from e2e.system import images, objects
from e2e.system.beside import Beside
from e2e.system.kustomize import kustomization
from e2e.system.operator import NAMESPACE, Operator
from e2e.system.shop import Shop, new_shop
from services.cluster import Cluster
from services.waiting import until_sync

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

WEBHOOK = "queuebox-operator-webhook"
HOST = f"{WEBHOOK}.{NAMESPACE}.svc"
BAD = objects.route(transform={"expression": "$.("})


def test_an_operator_of_one_namespace_looks_after_that_alone(
    shop: Shop, operator: Operator, beside: Beside, cluster: Cluster
) -> None:
    replaced = images.replaced(**{"queuebox/queuebox": images.PRODUCT})
    with operator.absent(), new_shop(cluster, beside) as other:
        with kustomization("overlays/one-namespace", namespace=shop.name, images=replaced) as folder:
            cluster.kubectl("apply", "--server-side", "--kustomize", folder)
        operator.settle(shop.name)
        other.apply(objects.queuebox(other.name), objects.destination(other.name), objects.route())
        shop.open()
        shop.delivers()
        assert other.there("QueueBox", "shop")["status"]["conditions"][0]["reason"] == "Pending"
        assert other.agents() == []


@pytest.fixture
def webhook(operator: Operator, cluster: Cluster, tmp_path: Path) -> Iterator[None]:
    """The component of the webhook, with a certificate of this test's in the place of cert-manager's."""
    key, certificate = tmp_path / "tls.key", tmp_path / "tls.crt"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}"]
    names = ["-addext", f"subjectAltName=DNS:{HOST}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *names], check=True, capture_output=True)
    pair = {"tls.crt": certificate.read_text(), "tls.key": key.read_text()}
    cluster.apply(objects.secret(f"{WEBHOOK}-tls", **pair), namespace=NAMESPACE)
    authority = b64encode(certificate.read_bytes()).decode()
    trust = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": authority}]
    trusting = {"target": {"kind": "ValidatingWebhookConfiguration"}, "patch": json.dumps(trust)}
    operator.install(images.PRODUCT, ["components/webhook"], [without("Issuer"), without("Certificate"), trusting])
    yield
    cluster.delete("ValidatingWebhookConfiguration", "queuebox-operator")
    cluster.delete("Service", WEBHOOK, NAMESPACE)
    operator.install(images.PRODUCT)


def without(kind: str) -> Mapping[str, object]:
    """A patch that takes an object of cert-manager out."""
    gone = {"$patch": "delete", "apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": {"name": WEBHOOK}}
    return {"target": {"kind": kind, "name": WEBHOOK}, "patch": json.dumps(gone)}


def test_with_the_webhook_an_expression_that_does_not_compile_is_refused_at_apply(webhook: None, shop: Shop) -> None:
    def refused() -> bool:
        try:
            shop.apply(BAD)
        except AssertionError as error:
            return "spec.transform.expression: at character" in str(error)
        return False

    until_sync(refused, 30, "the refusal of the webhook", every=0.5)
    shop.open()
    shop.delivers()
