"""`polyvox serve --tls auto`: a certificate of the server's own."""

import ssl
import stat
from pathlib import Path

import pytest

from helpers.certificates import loaded, openssl, trusting
from polyvox.errors import UnavailableError
from polyvox.server.own_certificate import own_certificate


def test_a_certificate_is_made_once_and_its_key_is_private(tmp_path: Path) -> None:
    made = own_certificate(tmp_path / "tls")
    before = made.chain.read_bytes()
    assert loaded(made.chain, made.key)
    assert stat.S_IMODE(made.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.key.parent.stat().st_mode) == 0o700
    assert sorted(file.name for file in made.key.parent.iterdir()) == ["localhost.key", "localhost.pem"]
    assert own_certificate(tmp_path / "tls").chain.read_bytes() == before
    names = {name for _, name in trusting(made.chain).get_ca_certs()[0]["subjectAltName"]}
    assert {"localhost", "127.0.0.1"} <= names


def test_one_that_ends_within_a_week_is_made_anew(tmp_path: Path) -> None:
    made = own_certificate(tmp_path)
    short = (
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        2,
        "-subj",
        "/CN=localhost",
    )
    openssl("req", "-x509", *short, "-keyout", made.key, "-out", made.chain)
    old = ssl.PEM_cert_to_DER_cert(made.chain.read_text())
    assert ssl.PEM_cert_to_DER_cert(own_certificate(tmp_path).chain.read_text()) != old


def test_a_machine_without_openssl_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="install it, or name a certificate with --ssl-certfile"):
        own_certificate(tmp_path)


def test_clients_are_told_how_to_trust_it(tmp_path: Path) -> None:
    made = own_certificate(tmp_path)
    assert f"SSL_CERT_FILE={made.chain}" in made.trust_steps
    assert f"NODE_EXTRA_CA_CERTS={made.chain}" in made.trust_steps
