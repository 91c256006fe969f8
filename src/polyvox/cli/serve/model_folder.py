"""Settings for the model of `serve --model_dir`: a folder, or a repository that is fetched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyvox.bundles.manifest import HubSource, Manifest, manifest_of_repository, manifests
from polyvox.bundles.progress import RichProgress
from polyvox.bundles.pull import pull
from polyvox.bundles.record import read_record
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError


def is_repository(named: Path) -> bool:
    """Return whether `OWNER/NAME` is meant, and no folder of that name."""
    return not named.is_dir() and not named.is_absolute() and len(named.parts) == 2 and named.parts[0] != ".."


def settings_for(folder: Path, catalog: Catalog, besides: Sequence[str] = ()) -> dict[str, Any]:
    """The settings for the model in a folder, recognised by its files; `besides` are other models to load.

    BundleError where no engine recognises the files.
    """
    if not folder.is_dir():
        raise BundleError(f"There is no folder {folder}; give the folder of a model's files with --model_dir.")
    record = read_record(folder)
    if record is not None and record.name in catalog.factories and record.name == folder.resolve().name:
        return _with_default(record.name, besides) | {"models_dir": folder.resolve().parent}
    found = catalog.recognize(folder)
    if found is None:
        families = ", ".join(spec.title for spec in catalog.specs)
        raise BundleError(
            f"{folder} holds no known model: it was not installed by `polyvox pull`, and no engine recognises its "
            f"files (installed engines: {families}); check the path."
        )
    return _with_default(found.model, besides) | dict(found.settings)


def fetched(repository: str, catalog: Catalog, settings: Settings, besides: Sequence[str] = ()) -> dict[str, Any]:
    """The settings for the model of a hub's repository, such as `iic/CosyVoice2-0.5B`; it is pulled if need be."""
    found = manifest_of_repository(repository)
    if found is None or not _speaks(found[0], catalog):
        known = sorted(
            source.repository
            for manifest in manifests()
            if _speaks(manifest, catalog)
            for source in manifest.sources
            if isinstance(source, HubSource)
        )
        raise BundleError(
            f"{repository} is neither a folder nor a repository of a known model; give one of {', '.join(known)}."
        )
    manifest, hub = found
    bundle = pull(
        manifest.name,
        models_dir=settings.models_dir,
        folder=None,
        hub_url=settings.modelscope_url if hub == "modelscope" else settings.hub_url,
        progress=RichProgress(),
        hub=hub,
    )
    return settings_for(bundle.folder, catalog, besides)


def _speaks(manifest: Manifest, catalog: Catalog) -> bool:
    """Return whether it is a model, or a variant of one such as `cosyvoice1-sft`, and not a part of one."""
    return manifest.name.partition("-")[0] in catalog.factories


def _with_default(model: str, besides: Sequence[str]) -> dict[str, Any]:
    return {"models": list(dict.fromkeys((model, *besides))), "default_model": model}
