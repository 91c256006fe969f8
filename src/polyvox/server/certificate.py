"""The certificate with which the server speaks https and wss."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from polyvox.config import Settings
from polyvox.errors import InvalidRequestError

_ENCRYPTED = b"ENCRYPTED"
"""In the first lines of a key that has a password, in both forms that OpenSSL writes."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate chain and its private key, both PEM files that have been read and belong together."""

    chain: Path
    key: Path
    context: ssl.SSLContext

    @classmethod
    def of(cls, settings: Settings) -> "Certificate | None":
        """The certificate of the settings, None where they name none; `InvalidRequestError` where it is of no use."""
        if settings.ssl_certfile is None:
            if settings.ssl_keyfile is not None:
                raise InvalidRequestError(
                    "The key alone does not make https; name the certificate with --ssl-certfile, or leave out "
                    "--ssl-keyfile.",
                    field="ssl_keyfile",
                )
            return None
        chain = _readable(settings.ssl_certfile, "ssl_certfile")
        key = chain if settings.ssl_keyfile is None else _readable(settings.ssl_keyfile, "ssl_keyfile")
        password = settings.ssl_keyfile_password
        secret = None if password is None else password.get_secret_value()
        context = _context(chain, key, secret)
        if settings.server == "granian" and _ENCRYPTED in key.read_bytes():
            raise InvalidRequestError(
                f"granian cannot read the key in {key}, which has a password; serve with --server uvicorn, or give the "
                "key without one.",
                field="ssl_keyfile",
            )
        return cls(chain, key, context)


def _readable(path: Path, field: str) -> Path:
    try:
        with path.expanduser().open("rb") as file:
            file.read(1)
    except OSError as error:
        option = f"--{field.replace('_', '-')}"
        raise InvalidRequestError(f"Cannot read {path}: {error.strerror}; see {option}.", field=field) from error
    return path.expanduser()


def _context(chain: Path, key: Path, password: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION  # a client could have the server do the costly half again and again
    context.set_alpn_protocols(["http/1.1"])
    # A client that reads in one thread and writes in another, as websockets.sync does, loses what it writes while it
    # reads a ticket: OpenSSL drops it. So nothing comes before the answer, at the cost of a whole handshake each time.
    context.num_tickets = 0
    try:
        # Without a password of some kind, OpenSSL would ask for it on the terminal.
        context.load_cert_chain(chain, key, password or "")
    except ssl.SSLError as error:
        raise InvalidRequestError(_fault(error, chain, key, password), field="ssl_certfile") from error
    return context


def _fault(error: ssl.SSLError, chain: Path, key: Path, password: str | None) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"The key in {key} belongs to another certificate than the one in {chain}; give a pair."
    if _ENCRYPTED in key.read_bytes():
        wrong = "has another password than" if password else "is encrypted: put its password into"
        return f"The key in {key} {wrong} POLYVOX_SSL_KEYFILE_PASSWORD."
    separate = "" if key != chain else ", or name the key with --ssl-keyfile"
    return f"{chain} and {key} are no certificate chain and no key in PEM format ({error}); give such files{separate}."
