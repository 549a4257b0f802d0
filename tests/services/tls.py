"""A certificate for 127.0.0.1 that nobody else trusts."""

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl program to make a certificate")


class Certificate(NamedTuple):
    """`server`: for a receiver; `client`: trusts it and nobody else."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def certificate(folder: Path) -> Certificate:
    """Make one in the folder."""
    made, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", made],
        check=True,
        capture_output=True,
    )  # fmt: skip
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made, key)
    return Certificate(server, ssl.create_default_context(cafile=str(made)))
