"""A model's folder as `serve --model_dir` names it: the model in it, and the settings that speak with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyvox.bundles.record import read_record
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError


def settings_for(folder: Path, catalog: Catalog, besides: Sequence[str] = ()) -> dict[str, Any]:
    """The settings for the model in a folder, told by its files; other models may be loaded besides.

    `BundleError` says what is wrong where no engine knows the files.
    """
    if not folder.is_dir():
        raise BundleError(f"There is no folder {folder}; --model_dir takes the place of a model's files on this disk.")
    record = read_record(folder)
    if record is not None and record.name in catalog.factories and record.name == folder.resolve().name:
        return _with_default(record.name, besides) | {"models_dir": folder.resolve().parent}
    found = catalog.recognize(folder)
    if found is None:
        families = ", ".join(spec.title for spec in catalog.specs)
        raise BundleError(
            f"{folder} holds no model that is known: neither one that `polyvox pull` installed, nor one that an engine "
            f"recognises by its files (engines here: {families})."
        )
    return _with_default(found.model, besides) | dict(found.settings)


def _with_default(model: str, besides: Sequence[str]) -> dict[str, Any]:
    return {"models": list(dict.fromkeys((model, *besides))), "default_model": model}
