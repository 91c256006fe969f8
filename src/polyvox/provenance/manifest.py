"""Manifests: signed statements of what an answer is and which bytes it has, without its text."""

import base64
import json
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from polyvox.audio.pcm import to_pcm16
from polyvox.provenance.block_hashes import BlockHasher, BlockMatch, match_blocks
from polyvox.provenance.marks import Marks
from polyvox.provenance.signing_key import PublicKey, SigningKey
from polyvox.types import Pcm

VERSION = 1
DATA_BLOCK = 16_384
"""Bytes of a block of encoded audio: about a second of MP3, and a third of a second of WAV."""
LONGEST_MANIFEST = 8_388_608
"""Bytes; six hours of WAV at 48 kHz have as many hashes as fit."""


class _Statement(BaseModel):
    """A part of a manifest; nothing may be added to it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SignedBlocks(_Statement):
    """The SHA-256 of each block of a stream; the last may be shorter."""

    block_bytes: int = Field(ge=1, le=1_048_576)
    size: int = Field(ge=0)
    sha256: list[Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]]

    def match(self, data: bytes) -> BlockMatch:
        """Compare a stream, or its beginning, with these blocks."""
        return match_blocks(data, self.block_bytes, self.sha256)


class Manifest(_Statement):
    """The statement that is signed of one answer.

    `data` are its bytes as sent, `pcm` its samples as 16-bit little-endian integers. While an
    answer is being sent, its manifest holds the full blocks so far and is not `complete`.
    """

    version: int = Field(ge=VERSION, le=VERSION)
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    source: str
    software: str
    model: str
    voice: str
    made: str
    format: str
    sample_rate: int
    channels: int
    complete: bool
    data: SignedBlocks
    pcm: SignedBlocks

    @property
    def message(self) -> bytes:
        """The bytes that are signed: the manifest as JSON, its keys in order, without blanks, in ASCII."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":")).encode()


class SignedManifest(_Statement):
    """A manifest, the id of the key and its signature in Base64."""

    manifest: Manifest
    key: str = Field(pattern=r"^[0-9a-f]{16}$")
    signature: str = Field(min_length=88, max_length=88)

    @classmethod
    def sign(cls, manifest: Manifest, key: SigningKey) -> Self:
        signature = base64.b64encode(key.sign(manifest.message)).decode()
        return cls(manifest=manifest, key=key.public.id, signature=signature)

    @classmethod
    def parse(cls, document: bytes) -> Self | None:
        """The manifest of a JSON document from anywhere; None where it is none."""
        if len(document) > LONGEST_MANIFEST:
            return None
        try:
            return cls.model_validate_json(document)
        except ValidationError:
            return None

    def is_signed_by(self, key: PublicKey) -> bool:
        """True if the key's owner has signed this manifest as it is, to the last bit."""
        try:
            signature = base64.b64decode(self.signature, validate=True)
        except ValueError:
            return False
        return self.key == key.id and key.accepts(signature, self.manifest.message)


@dataclass(frozen=True, slots=True)
class AudioLayout:
    """The form of an answer's audio."""

    format: str
    sample_rate: int
    channels: int


class ManifestDraft:
    """The manifest of an answer under way: hashed as it is sent, on the threads that encode it."""

    def __init__(self, marks: Marks, voice: str, layout: AudioLayout) -> None:
        self.marks = marks
        self._voice = voice
        self._layout = layout
        self._pcm_block = 2 * layout.channels * layout.sample_rate
        self._pcm = BlockHasher(self._pcm_block)
        self._data = BlockHasher(DATA_BLOCK)
        self._lock = threading.Lock()

    def add(self, pcm: Pcm, data: bytes) -> None:
        """Take samples and the bytes that they were encoded to, or those of earlier ones."""
        samples = to_pcm16(pcm)
        with self._lock:
            self._pcm.add(samples)
            self._data.add(data)

    def add_data(self, data: bytes) -> None:
        """Take bytes that no samples belong to, such as the end of a file."""
        with self._lock:
            self._data.add(data)

    def manifest(self, *, complete: bool | None = None) -> Manifest:
        """The manifest as it is now: of all that was taken, or of the full blocks while more will follow (None)."""
        with self._lock:
            return Manifest(
                version=VERSION,
                id=self.marks.content_id,
                source=self.marks.source,
                software=self.marks.software,
                model=self.marks.model,
                voice=self._voice,
                made=self.marks.made,
                format=self._layout.format,
                sample_rate=self._layout.sample_rate,
                channels=self._layout.channels,
                complete=complete is True,
                data=_blocks(self._data, DATA_BLOCK, ended=complete is not None),
                pcm=_blocks(self._pcm, self._pcm_block, ended=complete is not None),
            )


def _blocks(hasher: BlockHasher, block_bytes: int, *, ended: bool) -> SignedBlocks:
    hashes = hasher.all if ended else list(hasher.full)
    size = hasher.size if ended else len(hashes) * block_bytes
    return SignedBlocks(block_bytes=block_bytes, size=size, sha256=hashes)


def as_json(signed: SignedManifest) -> dict[str, Any]:
    """A signed manifest as the door and the store write it."""
    return signed.model_dump()
