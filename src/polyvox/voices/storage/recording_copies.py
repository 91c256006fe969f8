"""Local copies of recordings that lie elsewhere, by the hash of their content and within a limit of bytes."""

import os
import re
import secrets
from pathlib import Path

import structlog

from polyvox.private_files import make_private_folder, write_private
from polyvox.voices.storage.recordings import digest_of

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_FILE = re.compile(r"[0-9a-f]{64}\.wav")


class RecordingCopies:
    """A folder of copies. Several processes may share it; a copy that is lost or damaged is fetched again.

    A disk that fails or is full costs speed and nothing else.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def get(self, digest: str) -> bytes | None:
        """The copy of a recording, its hash verified."""
        path = self._path(digest)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if digest_of(data) != digest:
            self.drop(digest)
            return None
        try:
            os.utime(path)  # the order in which `trim` deletes
        except OSError as error:
            log.warning("use of a recording's copy not noted", reason=str(error))
        return data

    def put(self, digest: str, data: bytes) -> None:
        """Keep a copy, if there is room."""
        if len(data) > self._max_bytes:
            return
        fresh = self._folder / f"incoming-{secrets.token_hex(8)}"
        try:
            make_private_folder(self._folder)
            write_private(fresh, data)
            fresh.replace(self._path(digest))
            self.trim()
        except OSError as error:
            log.warning("recording not copied", reason=str(error))
            _delete(fresh)

    def drop(self, digest: str) -> None:
        """Delete a copy."""
        _delete(self._path(digest))

    def digests(self) -> list[str]:
        """Every recording of which there is a copy."""
        return [path.stem for path in self._folder.glob("*.wav") if _FILE.fullmatch(path.name)]

    def trim(self) -> None:
        """Delete the copies that were not used for longest until the rest fits."""
        found = []
        for path in self._folder.glob("*.wav"):
            try:
                state = path.stat()
            except OSError:
                continue  # another process has deleted it
            found.append((state.st_mtime, state.st_size, path))
        left = sum(size for _, size, _ in found)
        for _, size, path in sorted(found, key=lambda each: each[0]):
            if left <= self._max_bytes:
                return
            _delete(path)
            left -= size

    def remove_incoming(self) -> None:
        """Delete what a crash left half written."""
        for path in self._folder.glob("incoming-*"):
            _delete(path)

    def _path(self, digest: str) -> Path:
        name = f"{digest}.wav"
        if not _FILE.fullmatch(name):
            raise ValueError("a recording's copy is named by the hash of its content")
        return self._folder / name


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("copy of a recording not deleted", reason=str(error))
