"""The download cache: files under the names of their own hashes, so that a killed pull goes on where it stopped."""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from polyvox.bundles.disk import sha256_of, sync_file
from polyvox.bundles.manifest import Digest


class DownloadCache:
    """A folder of whole files, named by their sha256, and of parts still growing. One process at a time uses it."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = root

    def part(self, digest: Digest) -> Path:
        """Where a download of this content grows."""
        return self._root / f"{digest.sha256}.part"

    def unknown_part(self, address: str) -> Path:
        """Where a download grows whose content is not known beforehand."""
        return self._root / f"{hashlib.sha256(address.encode()).hexdigest()}.unknown"

    def keep(self, part: Path) -> Digest:
        """Turn a finished part of unknown content into an entry, and say what it holds."""
        digest = digest_of(part)
        sync_file(part)
        part.replace(self._root / digest.sha256)
        return digest

    def find(self, digests: Iterable[Digest]) -> Path | None:
        """A whole file with one of these contents; one that was damaged since is removed."""
        for digest in digests:
            path = self._root / digest.sha256
            if not path.is_file():
                continue
            if holds(path, (digest,)) is not None:
                return path
            path.unlink()
        return None

    def commit(self, part: Path, digests: Iterable[Digest]) -> Path | None:
        """Turn a finished part into an entry; a part with none of these contents is removed."""
        digest = holds(part, digests)
        if digest is None:
            part.unlink()
            return None
        sync_file(part)
        return part.replace(self._root / digest.sha256)

    def adopt(self, path: Path, digests: Iterable[Digest], *, link: bool) -> Path | None:
        """Take in a file from elsewhere on this machine, if it has one of these contents.

        A linked file is shared with the place it came from, which must not change it in place; others are copied.
        """
        digest = holds(path, digests)
        if digest is None:
            return None
        part = self.part(digest)
        part.unlink(missing_ok=True)
        (link_or_copy if link else shutil.copyfile)(path, part)
        return self.commit(part, (digest,))

    def discard(self, digests: Iterable[Digest]) -> None:
        """Forget these contents, whole and partial."""
        for digest in digests:
            (self._root / digest.sha256).unlink(missing_ok=True)
            self.part(digest).unlink(missing_ok=True)


def digest_of(path: Path) -> Digest:
    """What a file holds."""
    return Digest(sha256=sha256_of(path), bytes=path.stat().st_size)


def holds(path: Path, digests: Iterable[Digest]) -> Digest | None:
    """Which of these contents a file has; its size is looked at before its bytes are."""
    if not path.is_file():
        return None
    size = path.stat().st_size
    candidates = [digest for digest in digests if digest.bytes == size]
    if not candidates:
        return None
    found = sha256_of(path)
    return next((digest for digest in candidates if digest.sha256 == found), None)


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for the same file, or a copy where the file system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
