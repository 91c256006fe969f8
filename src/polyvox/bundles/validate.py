"""Validation of installed bundles, before anything loads from them."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.bundles.cache import holds
from polyvox.bundles.disk import sha256_of
from polyvox.bundles.manifest import Digest, Manifest, manifest_named
from polyvox.bundles.record import BundleRecord, FileRecord, read_record
from polyvox.container_image import pull_hint
from polyvox.errors import BundleError

if TYPE_CHECKING:
    from polyvox.bundles.progress import Progress

_log = logging.getLogger(__name__)
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Bundle:
    """An installed, validated model."""

    manifest: Manifest
    folder: Path

    def file(self, relative: str) -> Path:
        """The path of one of the bundle's files."""
        if relative not in self.manifest.files:
            raise BundleError(f"The model {self.manifest.name!r} has no file {relative!r}.")
        return self.folder / relative


def open_bundle(name: str, models_dir: Path) -> Bundle:
    """The installed model of this name, ready to load.

    Presence, sizes and times are checked; a file is hashed only where its time changed since it was last hashed.
    """
    return open_manifest(manifest_named(name), models_dir)


def open_manifest(manifest: Manifest, models_dir: Path) -> Bundle:
    """As `open_bundle`, for a manifest in hand; unpinned files must be those that were installed first."""
    bundle = Bundle(manifest, models_dir / manifest.name)
    record = _record_of(bundle)
    if manifest.unpinned:
        trusted = recorded(manifest, record)
        if missing := [name for name in manifest.unpinned if name not in trusted]:
            raise BundleError(_problems(bundle, missing, []))
        manifest = manifest.pinned(trusted)
        bundle = Bundle(manifest, bundle.folder)
    missing, altered, touched = _examine(bundle, record)
    proven = {name: holds(bundle.file(name), manifest.files[name].installed) for name in touched}
    altered += [name for name, digest in proven.items() if digest is None]
    if missing or altered:
        raise BundleError(_problems(bundle, missing, altered))
    _refresh_record(bundle, record, {name: digest for name, digest in proven.items() if digest is not None})
    return bundle


def recorded(manifest: Manifest, record: BundleRecord) -> dict[str, Digest]:
    """The digests of the unpinned files at their installation."""
    return {
        name: Digest(sha256=known.sha256, bytes=known.bytes)
        for name, known in record.files.items()
        if name in manifest.unpinned
    }


def verify(bundle: Bundle, progress: "Progress") -> None:
    """Hash every file of a bundle; BundleError names those that are missing or altered."""
    missing, altered = [], []
    with progress.task(f"Checking {bundle.manifest.name}", bundle.manifest.bytes) as advance:
        for name, spec in bundle.manifest.files.items():
            path = bundle.file(name)
            if not path.is_file():
                missing.append(name)
            elif sha256_of(path, advance) not in {digest.sha256 for digest in spec.installed}:
                altered.append(name)
    if missing or altered:
        raise BundleError(_problems(bundle, missing, altered))


def _record_of(bundle: Bundle) -> BundleRecord:
    manifest = bundle.manifest
    record = read_record(bundle.folder)
    if record is None:
        raise BundleError(
            f"The model {manifest.name!r} is not installed in {bundle.folder}; run: {pull_hint(manifest.name)}."
        )
    if (record.name, record.version) != (manifest.name, manifest.version):
        raise BundleError(
            f"{bundle.folder} holds {record.name} {record.version}, but this release needs {manifest.name} "
            f"{manifest.version}; run: {pull_hint(manifest.name)}."
        )
    return record


def _examine(bundle: Bundle, record: BundleRecord) -> tuple[list[str], list[str], list[str]]:
    """The names of files that are missing, of those that cannot be right, and of those that have to be hashed."""
    missing, altered, touched = [], [], []
    for name, spec in bundle.manifest.files.items():
        path = bundle.file(name)
        if not path.is_file():
            missing.append(name)
            continue
        state = path.stat()
        known = record.files.get(name)
        if state.st_size not in {digest.bytes for digest in spec.installed}:
            altered.append(name)
        elif known is None or not _unchanged(known, state.st_size, state.st_mtime_ns):
            touched.append(name)
        elif known.sha256 not in {digest.sha256 for digest in spec.installed}:
            altered.append(name)
    return missing, altered, touched


def _unchanged(known: FileRecord, size: int, mtime_ns: int) -> bool:
    return (known.bytes, known.mtime_ns) == (size, mtime_ns)


def _refresh_record(bundle: Bundle, record: BundleRecord, proven: Mapping[str, Digest]) -> None:
    """Record the new times of files that proved intact, so that the next start need not hash them again."""
    if not proven:
        return
    files = dict(record.files)
    for name, digest in proven.items():
        before = files.get(name)
        files[name] = FileRecord(
            sha256=digest.sha256,
            bytes=digest.bytes,
            mtime_ns=bundle.file(name).stat().st_mtime_ns,
            source=before.source if before else "unknown",
            published_sha256=before.published_sha256 if before else None,
        )
    try:
        record.model_copy(update={"files": files}).write(bundle.folder)
    except OSError as error:
        _log.info("record of the bundle %s not refreshed: %s", bundle.manifest.name, error)


def _problems(bundle: Bundle, missing: list[str], altered: list[str]) -> str:
    found = [f"lacks {_some(missing)}"] if missing else []
    found += [f"holds {_some(altered)} altered or cut short"] if altered else []
    name = bundle.manifest.name
    return f"The model {name!r} in {bundle.folder} {' and '.join(found)}; run: {pull_hint(name)}."


def _some(names: list[str]) -> str:
    listed = ", ".join(names[:_NAMED])
    return listed if len(names) <= _NAMED else f"{listed} and {len(names) - _NAMED} more files"
