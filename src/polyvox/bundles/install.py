"""Atomic installation of a bundle from files in the cache."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from polyvox.bundles.cache import holds, link_or_copy
from polyvox.bundles.derive import derived
from polyvox.bundles.disk import sync_file, sync_folder
from polyvox.bundles.manifest import FileSpec, Manifest
from polyvox.bundles.record import BundleRecord, FileRecord
from polyvox.errors import BundleError

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A complete, verified file of the bundle, and the source it came from."""

    path: Path
    source: str


@dataclass(frozen=True, slots=True)
class ModelsFolder:
    """The folder of all bundles, and its subfolders that only a pull uses."""

    root: Path

    @property
    def cache(self) -> Path:
        return self.root / ".cache"

    @property
    def staging(self) -> Path:
        return self.root / ".staging"

    @property
    def replaced(self) -> Path:
        """Old bundles while they are being replaced."""
        return self.root / ".replaced"

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Hold the lock of the folder; yields a fresh work folder, after clearing what a killed pull left behind."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _log.info("another pull is at work in this folder, waiting for it", folder=str(self.root))
                fcntl.flock(lock, fcntl.LOCK_EX)
            self._restore()
            self._sweep()
            work = self.staging / f"{os.getpid()}-{secrets.token_hex(4)}"
            work.mkdir(parents=True)
            try:
                yield work
            finally:
                self._restore()
                self._sweep()

    def _restore(self) -> None:
        """Restore bundles whose replacement was interrupted."""
        if self.replaced.is_dir():
            for old in self.replaced.iterdir():
                if not os.path.lexists(self.root / old.name):
                    old.rename(self.root / old.name)

    def _sweep(self) -> None:
        for leftover in (self.replaced, self.staging):
            try:
                if leftover.exists():
                    shutil.rmtree(leftover)
            except OSError as error:
                # The client of a killed pull may still be writing here; the next sweep gets it.
                _log.info("leftovers not removed", folder=str(leftover), reason=str(error))


def install(manifest: Manifest, found: Mapping[str, FetchedFile], models: ModelsFolder, work: Path) -> None:
    """Assemble the bundle in the work folder, sync it, and move it to its place in one step."""
    stage = work / manifest.name
    stage.mkdir()
    records = {name: _install_file(name, spec, found[name], stage) for name, spec in manifest.files.items()}
    for folder in {(stage / name).parent for name in manifest.files} | {stage}:
        sync_folder(folder)
    BundleRecord(name=manifest.name, version=manifest.version, files=records).write(stage)
    move_in(stage, models)


def _install_file(name: str, spec: FileSpec, found: FetchedFile, stage: Path) -> FileRecord:
    path = stage / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if spec.derived is not None and holds(found.path, spec.installed) is None:
        path.write_bytes(derived(found.path, spec.derived))
    else:
        link_or_copy(found.path, path)
    sync_file(path)
    digest = holds(path, spec.installed)
    if digest is None:
        raise BundleError(f"Installing {name!r} gave another file than it should have; please report this.")
    return FileRecord(
        sha256=digest.sha256,
        bytes=digest.bytes,
        mtime_ns=path.stat().st_mtime_ns,
        source=found.source,
        published_sha256=spec.sha256 if spec.derived is not None else None,
    )


def move_in(stage: Path, models: ModelsFolder) -> None:
    """Put a folder in the place of its name; if the second rename never happens, the old one is restored."""
    place = models.root / stage.name
    if os.path.lexists(place):
        models.replaced.mkdir(exist_ok=True)
        place.rename(models.replaced / place.name)
    stage.rename(place)
    sync_folder(models.root)
