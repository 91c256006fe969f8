"""Self-signed certificates, made by the program `openssl`."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from polyvox.config import Settings
from polyvox.server.certificate import Certificate

PASSWORD = "open-the-key"


def openssl(*arguments: object) -> None:
    """Run it; a machine without it fails the test and says so."""
    program = shutil.which("openssl")
    if program is None:
        pytest.fail("These tests make certificates with the program openssl; install it.")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, timeout=60)


def make_certificate(folder: Path, name: str = "server") -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", "-days", 2, *curve, "-keyout", key, "-out", chain, *subject)
    return chain, key


def encrypted(key: Path) -> Path:
    """The same key under `PASSWORD`."""
    target = key.with_suffix(".locked")
    openssl("pkcs8", "-topk8", "-in", key, "-out", target, "-v2", "aes256", "-passout", f"pass:{PASSWORD}")
    return target


def loaded(chain: Path, key: Path, password: str | None = None) -> Certificate:
    """The certificate as a server has it."""
    found = Certificate.of(Settings(ssl_certfile=chain, ssl_keyfile=key, ssl_keyfile_password=password))
    assert found is not None
    return found


def trusting(chain: Path) -> ssl.SSLContext:
    """A client that trusts only this certificate."""
    return ssl.create_default_context(cafile=str(chain))
