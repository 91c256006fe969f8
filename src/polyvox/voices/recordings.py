"""Recordings as content-addressed files, named by the SHA-256 of their content."""

import hashlib
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from polyvox.bundles.disk import sync_file, sync_folder
from polyvox.errors import UnavailableError
from polyvox.types import Pcm

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sII4sI")
_FLOAT = 3
_MAX_RATE = 10_000_000


def wav_bytes(pcm: Pcm, sample_rate: int) -> bytes:
    """A mono recording as a WAV file of 32-bit floats: what is read back is what was written, sample for sample."""
    samples = np.ascontiguousarray(pcm, "<f4").tobytes()
    return _header(sample_rate, len(samples)) + samples


def read_wav(data: bytes) -> tuple[Pcm, int]:
    """The inverse of `wav_bytes`; `ValueError` for anything else."""
    samples = data[_HEADER.size :]
    rate = _HEADER.unpack_from(data)[7] if len(data) >= _HEADER.size else 0
    if not 0 < rate <= _MAX_RATE or len(samples) % 4 or not data.startswith(_header(rate, len(samples))):
        raise ValueError("not a recording of this store")
    return np.frombuffer(samples, "<f4").astype(np.float32), rate


def _header(rate: int, size: int) -> bytes:
    return _HEADER.pack(
        *(b"RIFF", _HEADER.size - 8 + size, b"WAVE"),
        *(b"fmt ", 16, _FLOAT, 1, rate, 4 * rate, 4, 32),
        *(b"fact", 4, size // 4),
        *(b"data", size),
    )


def digest_of(data: bytes) -> str:
    """The name that content goes by."""
    return hashlib.sha256(data).hexdigest()


def prompt_digest(audio_digest: str, transcript: str) -> str:
    """The name of a recording together with what is said in it; it starts with the recording's own."""
    return f"{audio_digest}-{digest_of(transcript.encode())}"


class RecordingFiles:
    """The audio folder of a voice store.

    Writers hold the store's write lock. So a file that no record names, seen under that lock, is what a
    crash left behind, and one name is enough for files that are being written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._incoming = folder / "incoming"

    def write(self, digest: str, data: bytes) -> None:
        """Put a recording in its place; when this returns it is on the disk."""
        path = self._path(digest)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._incoming.write_bytes(data)
        sync_file(self._incoming)
        if not path.parent.exists():
            path.parent.mkdir(mode=0o700)
            sync_folder(self._folder)
        self._incoming.replace(path)
        sync_folder(path.parent)

    def read(self, digest: str) -> bytes:
        """The content of a recording; its hash is verified."""
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            data = b""
        if digest_of(data) != digest:
            raise UnavailableError("The voice's recording is missing or damaged; register the voice again.")
        return data

    def remove(self, digest: str) -> bool:
        """Delete a recording for good; False if there was none."""
        path = self._path(digest)
        if not path.exists():
            return False
        path.unlink()
        sync_folder(path.parent)
        return True

    def remove_incoming(self) -> None:
        """Delete what a crash left half written."""
        self._incoming.unlink(missing_ok=True)

    def digests(self) -> Iterator[str]:
        """Every recording there is."""
        for path in self._folder.glob("??/*.wav"):
            digest = path.parent.name + path.stem
            if _DIGEST.fullmatch(digest):
                yield digest

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise ValueError("a recording's file is named by the hash of its content")
        return self._folder / digest[:2] / f"{digest[2:]}.wav"
