"""The download cache: files under the names of their own hashes, so that an interrupted pull resumes."""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from polyvox.bundles.disk import sha256_of, sync_file
from polyvox.bundles.manifest import Digest


class DownloadCache:
    """A folder of complete files, named by their SHA-256, and of partial downloads. One process at a time uses it."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = root

    def part(self, digest: Digest) -> Path:
        """The path of a partial download of this content."""
        return self._root / f"{digest.sha256}.part"

    def unknown_part(self, address: str) -> Path:
        """The path of a partial download whose hash is not known beforehand."""
        return self._root / f"{hashlib.sha256(address.encode()).hexdigest()}.unknown"

    def keep(self, part: Path) -> Digest:
        """Turn a finished download of unknown content into an entry; returns its digest."""
        digest = digest_of(part)
        sync_file(part)
        part.replace(self._root / digest.sha256)
        return digest

    def find(self, digests: Iterable[Digest]) -> Path | None:
        """A complete file with one of these digests; a damaged one is removed."""
        for digest in digests:
            path = self._root / digest.sha256
            if not path.is_file():
                continue
            if holds(path, (digest,)) is not None:
                return path
            path.unlink()
        return None

    def commit(self, part: Path, digests: Iterable[Digest]) -> Path | None:
        """Turn a finished download into an entry; one with none of these digests is removed."""
        digest = holds(part, digests)
        if digest is None:
            part.unlink()
            return None
        sync_file(part)
        return part.replace(self._root / digest.sha256)

    def adopt(self, path: Path, digests: Iterable[Digest], *, link: bool) -> Path | None:
        """Add a file from elsewhere on this machine, if it has one of these digests.

        With `link` it is hard-linked, so its owner must not modify it in place; otherwise it is copied.
        """
        digest = holds(path, digests)
        if digest is None:
            return None
        part = self.part(digest)
        part.unlink(missing_ok=True)
        (link_or_copy if link else shutil.copyfile)(path, part)
        return self.commit(part, (digest,))

    def discard(self, digests: Iterable[Digest]) -> None:
        """Delete the entries of these digests, complete and partial."""
        for digest in digests:
            (self._root / digest.sha256).unlink(missing_ok=True)
            self.part(digest).unlink(missing_ok=True)


def digest_of(path: Path) -> Digest:
    """The digest of a file."""
    return Digest(sha256=sha256_of(path), bytes=path.stat().st_size)


def holds(path: Path, digests: Iterable[Digest]) -> Digest | None:
    """Find the digest that a file has among these; the size is compared before the file is hashed."""
    if not path.is_file():
        return None
    size = path.stat().st_size
    candidates = [digest for digest in digests if digest.bytes == size]
    if not candidates:
        return None
    found = sha256_of(path)
    return next((digest for digest in candidates if digest.sha256 == found), None)


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
