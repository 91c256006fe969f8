"""A certificate of the server's own, for clients on this machine that speak only https and wss."""

import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from polyvox.errors import UnavailableError
from polyvox.private_files import make_private_folder

_DAYS = 365
_LEFT_SECONDS = 7 * 24 * 3600
_OPENSSL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class OwnCertificate:
    """A self-signed certificate for localhost and 127.0.0.1, and its key."""

    chain: Path
    key: Path

    @property
    def trust_steps(self) -> str:
        """The lines by which clients trust it."""
        return (
            f"This server's certificate is its own; let clients trust it:\n"
            f"  export SSL_CERT_FILE={self.chain}        # Python, curl\n"
            f"  export NODE_EXTRA_CA_CERTS={self.chain}  # Node.js"
        )


def own_certificate(folder: Path) -> OwnCertificate:
    """The certificate in a folder; made there where there is none, or where it ends within a week."""
    found = OwnCertificate(folder.absolute() / "localhost.pem", folder.absolute() / "localhost.key")
    program = shutil.which("openssl")
    if program is None:
        raise UnavailableError(
            "The program openssl makes the certificate; install it, or name a certificate with --ssl-certfile."
        )
    if found.chain.is_file() and found.key.is_file() and _lasts(program, found.chain):
        return found
    make_private_folder(folder)
    mark = secrets.token_hex(4)
    made = OwnCertificate(folder.absolute() / f".{mark}.pem", folder.absolute() / f".{mark}.key")
    try:
        _make(program, made)
        made.key.replace(found.key)
        made.chain.replace(found.chain)
    finally:
        made.key.unlink(missing_ok=True)
        made.chain.unlink(missing_ok=True)
    return found


def _lasts(program: str, chain: Path) -> bool:
    return _run(program, "x509", "-noout", "-checkend", str(_LEFT_SECONDS), "-in", str(chain)).returncode == 0


def _make(program: str, target: OwnCertificate) -> None:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1")
    files = ("-keyout", str(target.key), "-out", str(target.chain))
    ended = _run(program, "req", "-x509", "-days", str(_DAYS), *curve, *names, *files)
    if ended.returncode:
        lines = ended.stderr.decode(errors="replace").strip().splitlines() or [f"status {ended.returncode}"]
        raise UnavailableError(f"openssl could not make a certificate ({lines[-1][:120]}); use --ssl-certfile.")


def _run(program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run openssl; what it writes is for this user alone."""
    return subprocess.run(  # noqa: S603 - an argument list of ours
        [program, *arguments], capture_output=True, timeout=_OPENSSL_SECONDS, check=False, umask=0o077
    )
