"""Settings for the model in the folder of `serve --model_dir`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyvox.bundles.record import read_record
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError


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


def _with_default(model: str, besides: Sequence[str]) -> dict[str, Any]:
    return {"models": list(dict.fromkeys((model, *besides))), "default_model": model}
