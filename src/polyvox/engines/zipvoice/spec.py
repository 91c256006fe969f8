"""ZipVoice's `EngineSpec`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.spec import EngineSpec, FolderTools, ModelFolder, Requirement
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.engines.zipvoice.tuning import ZipVoiceTuning
from polyvox.engines.zipvoice.variants import LANGUAGES, VARIANTS
from polyvox.errors import InvalidRequestError

if TYPE_CHECKING:
    from polyvox.engines.base import Engine


def _make(variant: str, settings: Settings) -> "Engine":
    from polyvox.engines.zipvoice.engine import ZipVoiceEngine

    return ZipVoiceEngine(VARIANTS[variant], settings)


def _recognize(folder: Path) -> ModelFolder | None:
    """Recognise a folder by its name, since the folders of all variants hold the same files."""
    if folder.resolve().name in VARIANTS and all((folder / name).is_file() for name in ("model.json", "tokens.txt")):
        return ModelFolder(folder.resolve().name, {"models_dir": folder.resolve().parent})
    return None


def _export(folder: Path, to: Path | None, int8: bool) -> Sequence[Path]:
    if to is None:
        raise InvalidRequestError("Name the folder to make with --to.", field="to")
    from polyvox.engines.zipvoice.onnx_export.export import export

    return list(export(folder, to, int8=int8))


ZIPVOICE = EngineSpec(
    family="zipvoice",
    title="ZipVoice",
    models={name: partial(_make, name) for name in VARIANTS},
    languages=dict.fromkeys(VARIANTS, LANGUAGES),
    cloning=True,
    first_to_clone="zipvoice_distill",
    settings=ZipVoiceSettings,
    tuning=ZipVoiceTuning,
    requires=(Requirement("torch", "torch", "PyTorch"),),
    device_field="device",
    recognize=_recognize,
    tools=FolderTools(export=_export),
)
