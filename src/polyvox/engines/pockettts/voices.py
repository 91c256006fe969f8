"""Published voices of a model, as lists show them; imports nothing heavy."""

import re
from pathlib import Path

from polyvox.engines.pockettts.variants import Variant
from polyvox.types import Voice

FOLDER = "embeddings"
"""The folder of a model's ready voices."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def listed_voices(folder: Path, variant: Variant) -> list[Voice]:
    """The voices whose published states a model's folder holds."""
    found = (folder / FOLDER).glob("*.safetensors") if (folder / FOLDER).is_dir() else ()
    names = sorted(path.stem for path in found if _NAME.fullmatch(path.stem))
    return [Voice(name, name.replace("_", " ").title(), variant.language) for name in names]
