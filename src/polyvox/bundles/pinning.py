"""Trust on first use for files without a known hash: the first version is trusted, and no other after it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import structlog

from polyvox.bundles.cache import digest_of
from polyvox.bundles.hub import fetch_unpinned_from_hub
from polyvox.bundles.manifest import Digest, HubSource, Manifest, Pinning
from polyvox.bundles.record import read_record
from polyvox.bundles.sources import FetchContext, RequestedFile, SourceUnavailableError
from polyvox.bundles.validate import recorded
from polyvox.errors import BundleError

_log = structlog.get_logger(__name__)


def pinned(manifest: Manifest, folder: Path | None, models_dir: Path, context: FetchContext) -> Manifest:
    """The manifest with the hashes of all its files: as recorded at the first installation, or as found now.

    To trust other files later, the installed model has to be removed by hand.
    """
    if not manifest.unpinned:
        return manifest
    record = read_record(models_dir / manifest.name)
    digests = {} if record is None else recorded(manifest, record)
    if folder is not None:
        digests = {**_found(manifest, folder), **digests}
    digests = {**_published(manifest), **digests}
    digests |= _fetched(manifest, digests, context)
    _log.info("this release knows no hashes of these files; they are trusted as they came", files=sorted(digests))
    return manifest.pinned(digests)


def unpinned_notice(manifest: Manifest) -> str | None:
    """A notice for users who install a model of which not every hash is known; None where all are."""
    source = manifest.sources[0]
    if manifest.pinning is Pinning.SHA256 or not isinstance(source, HubSource):
        return None
    count = len(manifest.unpinned) - len(_published(manifest))
    known = f"{manifest.name} is unpinned: {count} of its files have no known hash"
    where = "it follows" if source.floats else "they come from commit"
    revision = source.revision if source.floats else source.revision[:12]
    return f"{known}; {where} {revision}, and its files are recorded at the first install: later ones must be the same."


def _published(manifest: Manifest) -> dict[str, Digest]:
    return {name: spec.published for name, spec in manifest.unpinned.items() if spec.published is not None}


def _found(manifest: Manifest, folder: Path) -> dict[str, Digest]:
    """Digests of the unpinned files in a folder, under the bundle's names or a source's."""
    found: dict[str, Digest] = {}
    for name, spec in manifest.unpinned.items():
        for relative in _paths(manifest, name):
            path = folder / relative
            if name not in found and path.is_file() and 0 < path.stat().st_size <= spec.max_bytes:
                found[name] = digest_of(path)
    return found


def _paths(manifest: Manifest, name: str) -> Iterator[str]:
    yield name
    for source in manifest.sources:
        if path := source.path_of(name):
            yield path


def _fetched(manifest: Manifest, known: Mapping[str, Digest], context: FetchContext) -> dict[str, Digest]:
    """Digests of the rest, which is downloaded into the cache."""
    fetched: dict[str, Digest] = {}
    reasons: list[str] = []
    for source in manifest.sources:
        if not isinstance(source, HubSource) or not context.uses(source):
            continue
        wanted = tuple(
            RequestedFile(name, path, (), spec.max_bytes)
            for name, spec in manifest.unpinned.items()
            if name not in known and name not in fetched and (path := source.path_of(name)) is not None
        )
        try:
            fetched |= fetch_unpinned_from_hub(source, wanted, context) if wanted else {}
        except SourceUnavailableError as error:
            _log.warning("source unavailable", source=source.label, reason=str(error))
            reasons.append(f"{source.label}: {error}")
    if missing := [name for name in manifest.unpinned if name not in known and name not in fetched]:
        raise BundleError(
            f"The model {manifest.name!r} could not be fetched, {len(missing)} of its files are missing, such as "
            f"{missing[0]} ({'; '.join(reasons) or 'no source had them'}); connect this machine, or run "
            f"`polyvox pull {manifest.name} --from FOLDER` with a copy."
        )
    return fetched
