"""Recordings as content-addressed files, named by the SHA-256 of their content."""

import hashlib
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from polyvox.bundles.disk import sync_file, sync_folder
from polyvox.errors import UnavailableError
from polyvox.private_files import make_private_folder, write_private
from polyvox.types import Pcm
from polyvox.voices.names import is_voice_id

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sII4sI")
_FLOAT = 3
_MAX_RATE = 10_000_000
_STORE_ID = "store-id"


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
    """A folder of recordings, each with a side-car for every voice that is made of it.

    Writers hold the store's write lock. So a file that no record names, seen under that lock, is what a
    crash left behind, and one name is enough for files that are being written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._incoming = folder / "incoming"

    def write(self, digest: str, data: bytes) -> None:
        """Put a recording in its place; when this returns it is on the disk."""
        self._put(self._path(digest), data)

    def read(self, digest: str) -> bytes:
        """The content of a recording; its hash is verified."""
        data = self.content(digest)
        if data is None:
            raise UnavailableError("The voice's recording is missing or damaged; register the voice again.")
        return data

    def content(self, digest: str) -> bytes | None:
        """The content of a recording; None if it is missing or not what its name says."""
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            return None
        return data if digest_of(data) == digest else None

    def modified(self, digest: str) -> float:
        """The time at which a recording was written."""
        return self._path(digest).stat().st_mtime

    def has(self, digest: str) -> bool:
        return self._path(digest).exists()

    def remove(self, digest: str) -> bool:
        """Delete a recording for good; False if there was none."""
        path = self._path(digest)
        if not path.exists():
            return False
        path.unlink()
        sync_folder(path.parent)
        return True

    def write_sidecar(self, digest: str, voice_id: str, data: bytes) -> None:
        """Put the side-car of a voice beside its recording."""
        self._put(self._sidecar(digest, voice_id), data)

    def read_sidecar(self, digest: str, voice_id: str) -> bytes:
        """The side-car of a voice; empty if there is none."""
        try:
            return self._sidecar(digest, voice_id).read_bytes()
        except FileNotFoundError:
            return b""

    def remove_voice(self, digest: str, voice_id: str, *, keep_audio: bool) -> None:
        """Delete a voice's side-car, and its recording unless that stays; either takes the same time."""
        path = self._path(digest)
        self._sidecar(digest, voice_id).unlink(missing_ok=True)
        if not keep_audio:
            path.unlink(missing_ok=True)
        if path.parent.exists():
            sync_folder(path.parent)

    def remove_incoming(self) -> None:
        """Delete what is half written."""
        self._incoming.unlink(missing_ok=True)

    def digests(self) -> Iterator[str]:
        """Every recording there is."""
        for path in self._folder.glob("??/*.wav"):
            digest = path.parent.name + path.stem
            if _DIGEST.fullmatch(digest):
                yield digest

    def sidecars(self) -> Iterator[tuple[str, str]]:
        """The digest and the voice's id of every side-car."""
        for path in self._folder.glob("??/*.voice_*.json"):
            rest, _, voice_id = path.stem.partition(".")
            if _DIGEST.fullmatch(digest := path.parent.name + rest) and is_voice_id(voice_id):
                yield digest, voice_id

    def move(self, digest: str, target: "RecordingFiles") -> None:
        """Move a recording to another folder."""
        _move(self._path(digest), target._path(digest))

    def move_sidecar(self, digest: str, voice_id: str, target: "RecordingFiles") -> None:
        """Move the side-car of a voice to another folder."""
        _move(self._sidecar(digest, voice_id), target._sidecar(digest, voice_id))

    def store_id(self) -> str:
        """The id of the store that claimed this folder; empty if none did."""
        try:
            return (self._folder / _STORE_ID).read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return ""

    def claim(self, store_id: str) -> None:
        """Note which store this folder belongs to."""
        self._put(self._folder / _STORE_ID, f"{store_id}\n".encode())

    def _put(self, path: Path, data: bytes) -> None:
        """Write a file atomically; what a failure leaves is removed at once, since a full disk needs the room."""
        make_private_folder(self._folder)
        try:
            write_private(self._incoming, data)
            sync_file(self._incoming)
            _make_parent(path)
            self._incoming.replace(path)
            sync_folder(path.parent)
        except OSError:
            self._incoming.unlink(missing_ok=True)
            raise

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise ValueError("a recording's file is named by the hash of its content")
        return self._folder / digest[:2] / f"{digest[2:]}.wav"

    def _sidecar(self, digest: str, voice_id: str) -> Path:
        if not is_voice_id(voice_id):
            raise ValueError("a side-car is named by its recording and the id of its voice")
        return self._path(digest).with_suffix(f".{voice_id}.json")


def _move(source: Path, target: Path) -> None:
    """Nothing is lost if this is interrupted: the file is in one of the two places."""
    make_private_folder(target.parent.parent)
    _make_parent(target)
    source.replace(target)
    sync_folder(target.parent)
    sync_folder(source.parent)


def _make_parent(path: Path) -> None:
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700)
        sync_folder(path.parent.parent)
