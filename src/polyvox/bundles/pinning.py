"""Files of which this release knows no hash: the first that are had are trusted, and no others after them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import structlog

from polyvox.bundles.cache import digest_of
from polyvox.bundles.hub import learn_from_hub
from polyvox.bundles.manifest import Digest, HubSource, Manifest
from polyvox.bundles.record import read_record
from polyvox.bundles.sources import SourceUnavailableError, Wanted, Workshop
from polyvox.bundles.validate import recorded
from polyvox.errors import BundleError

_log = structlog.get_logger(__name__)


def pinned(manifest: Manifest, folder: Path | None, models_dir: Path, workshop: Workshop) -> Manifest:
    """The manifest with the hashes of all its files: as recorded when they were first installed, or as found now.

    To trust other contents later, the installed model has to be removed by hand.
    """
    if not manifest.unpinned:
        return manifest
    record = read_record(models_dir / manifest.name)
    digests = {} if record is None else recorded(manifest, record)
    if folder is not None:
        digests = {**_found(manifest, folder), **digests}
    digests |= _fetched(manifest, digests, workshop)
    _log.warning("this release knows no hashes of these files; they are trusted as they came", files=sorted(digests))
    return manifest.pinned(digests)


def _found(manifest: Manifest, folder: Path) -> dict[str, Digest]:
    """What a folder has, under the bundle's names or a source's."""
    found: dict[str, Digest] = {}
    for name, spec in manifest.unpinned.items():
        for place in _places(manifest, name):
            path = folder / place
            if name not in found and path.is_file() and 0 < path.stat().st_size <= spec.max_bytes:
                found[name] = digest_of(path)
    return found


def _places(manifest: Manifest, name: str) -> Iterator[str]:
    yield name
    for source in manifest.sources:
        if path := source.path_of(name):
            yield path


def _fetched(manifest: Manifest, known: Mapping[str, Digest], workshop: Workshop) -> dict[str, Digest]:
    """What the hub has of the rest; it waits in the cache."""
    learned: dict[str, Digest] = {}
    reasons: list[str] = []
    for source in manifest.sources:
        if not isinstance(source, HubSource) or not workshop.asks(source):
            continue
        wanted = tuple(
            Wanted(name, path, (), spec.max_bytes)
            for name, spec in manifest.unpinned.items()
            if name not in known and name not in learned and (path := source.path_of(name)) is not None
        )
        try:
            learned |= learn_from_hub(source, wanted, workshop) if wanted else {}
        except SourceUnavailableError as error:
            _log.warning("source unavailable", source=source.label, reason=str(error))
            reasons.append(f"{source.label}: {error}")
    if missing := [name for name in manifest.unpinned if name not in known and name not in learned]:
        raise BundleError(
            f"The model {manifest.name!r} could not be fetched, {len(missing)} of its files are missing, such as "
            f"{missing[0]} ({'; '.join(reasons) or 'no source had them'}); connect this machine, or run "
            f"`polyvox pull {manifest.name} --from FOLDER` with a copy."
        )
    return learned
