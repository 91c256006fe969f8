"""ManifestStore: signed manifests in a folder, within a number of bytes."""

import secrets
import threading
from collections.abc import Collection
from pathlib import Path

import structlog

from polyvox.private_files import make_private_folder, write_private
from polyvox.provenance.manifest import LONGEST_MANIFEST, SignedManifest
from polyvox.provenance.marks import is_content_id

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_ENDING = ".json"
_KEPT_SHARE = 0.9


class ManifestStore:
    """Keeps manifests by their content id; beyond `max_bytes` the oldest make room."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._used: int | None = None
        self._lock = threading.Lock()

    def put(self, signed: SignedManifest) -> None:
        """Write a manifest; blocks. A disk that is full costs the manifest, never the answer."""
        data = signed.model_dump_json().encode()
        try:
            self._write(self._path(signed.manifest.id), data)
            self._make_room(len(data))
        except OSError as error:
            log.error("manifest not kept", content=signed.manifest.id, reason=error.strerror)

    def get(self, content_id: str) -> SignedManifest | None:
        """The manifest of an id; blocks. None where there is none, or no longer."""
        if not is_content_id(content_id):
            return None
        try:
            with self._path(content_id).open("rb") as file:
                return SignedManifest.parse(file.read(LONGEST_MANIFEST + 1))
        except OSError:
            return None

    def forget(self, voices: Collection[str]) -> int:
        """Delete the manifests of speech in these voices, by their ids; how many those were. Blocks."""
        gone = 0
        for _, _, path in self._files():
            signed = self.get(path.stem)
            if signed is not None and any(voice in signed.manifest.voice for voice in voices):
                path.unlink(missing_ok=True)
                gone += 1
        return gone

    def _path(self, content_id: str) -> Path:
        return self._folder / content_id[:2] / f"{content_id}{_ENDING}"

    def _write(self, path: Path, data: bytes) -> None:
        make_private_folder(path.parent)
        part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part")
        try:
            write_private(part, data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def _make_room(self, added: int) -> None:
        with self._lock:
            if self._used is not None:
                self._used += added
            if self._used is not None and self._used <= self._max_bytes:
                return
            files = sorted(self._files())
            self._used = sum(size for _, size, _ in files)
            if self._used <= self._max_bytes:
                return
            for _, size, path in files:
                if self._used <= self._max_bytes * _KEPT_SHARE:
                    return
                path.unlink(missing_ok=True)
                self._used -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        """The time, size and path of every manifest; one that another server removes meanwhile is left out."""
        found = []
        for path in self._folder.glob(f"*/*{_ENDING}"):
            try:
                status = path.stat()
            except OSError:
                continue
            found.append((status.st_mtime, status.st_size, path))
        return found
