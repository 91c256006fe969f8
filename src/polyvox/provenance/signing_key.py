"""Signing keys: the operator's Ed25519 key, its public half, and the files that hold them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from polyvox.errors import ConflictError, UnavailableError
from polyvox.extras import PROVENANCE
from polyvox.private_files import make_private_folder, write_private

if TYPE_CHECKING:  # an extra: a server that signs nothing does without
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_NAME = "signing-key.pem"
PUBLIC_NAME = "public-key.pem"
_LONGEST_FILE = 4_096


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The half of a key that anybody may have; it checks signatures."""

    key: "Ed25519PublicKey"

    @classmethod
    def read(cls, path: Path) -> Self:
        """The public key in a PEM file; `UnavailableError` where there is none."""
        PROVENANCE.check()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        try:
            key = load_pem_public_key(_read(path))
        except ValueError as error:
            raise UnavailableError(f"{path} holds no public key in PEM format.") from error
        if not isinstance(key, Ed25519PublicKey):
            raise UnavailableError(f"{path} holds no Ed25519 key.")
        return cls(key)

    @property
    def id(self) -> str:
        """The name of the key: the beginning of the hash of its 32 bytes."""
        return hashlib.sha256(self.key.public_bytes_raw()).hexdigest()[:16]

    @property
    def pem(self) -> bytes:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return self.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def accepts(self, signature: bytes, message: bytes) -> bool:
        """True if the key's owner has signed this very message."""
        from cryptography.exceptions import InvalidSignature

        try:
            self.key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The operator's key; it signs manifests."""

    key: "Ed25519PrivateKey"

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Make a key and write it and its public half; `ConflictError` where the folder has one."""
        PROVENANCE.check()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        path = folder / KEY_NAME
        if path.exists():
            raise ConflictError(f"{path} exists; a new key would leave all that it has signed without one.")
        made = cls(Ed25519PrivateKey.generate())
        make_private_folder(folder)
        write_private(path, made.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        (folder / PUBLIC_NAME).write_bytes(made.public.pem)
        return made

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The key of a folder; `UnavailableError` with the remedy where there is none."""
        PROVENANCE.check()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        path = folder / KEY_NAME
        try:
            key = load_pem_private_key(_read(path), password=None)
        except (TypeError, ValueError) as error:
            raise UnavailableError(f"{path} holds no private key in PEM format without a password.") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise UnavailableError(f"{path} holds no Ed25519 key; make one with: polyvox provenance init")
        return cls(key)

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.key.public_key())

    def sign(self, message: bytes) -> bytes:
        return self.key.sign(message)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST_FILE)
    except OSError as error:
        raise UnavailableError(
            f"{path} cannot be read: {error.strerror}. Make a key with: polyvox provenance init"
        ) from error
