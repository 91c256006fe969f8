"""The file of a model's built-in voices, read for their names alone, without PyTorch."""

from collections.abc import Iterable
from pathlib import Path

from polyvox.bundles.checkpoint import read_names
from polyvox.errors import BundleError
from polyvox.types import Voice

VOICES_FILE = "spk2info.pt"


def voices_named(names: Iterable[str]) -> list[Voice]:
    """Voices of these names; each speaks all languages of the model."""
    return [Voice(id=name, name=name, language="mul") for name in names]


def voices_in(folder: Path) -> list[Voice]:
    """The built-in voices of the model in a folder; none of a file that cannot be read, which its load reports."""
    path = folder / VOICES_FILE
    try:
        return voices_named(read_names(path)) if path.is_file() else []
    except (BundleError, OSError):
        return []
