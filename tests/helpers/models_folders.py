"""Folders with a few of the installed models, for servers that must not find more."""

import shutil
from pathlib import Path

from polyvox.bundles.validate import Bundle


def models_folder(folder: Path, *bundles: Bundle) -> Path:
    """Copy the bundles into a folder of models."""
    for bundle in bundles:
        shutil.copytree(bundle.folder, folder / bundle.folder.name)
    return folder
