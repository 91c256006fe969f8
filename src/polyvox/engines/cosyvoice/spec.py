"""EngineSpec of CosyVoice."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.cosyvoice.languages import LANGUAGES
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings, installed_folder
from polyvox.engines.cosyvoice.tuning import CosyVoiceTuning
from polyvox.engines.spec import EngineSpec, FolderTools, ModelFolder, Requirement
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.engines.base import Engine

_CONFIG_FILES = MappingProxyType({"cosyvoice3.yaml": 3, "cosyvoice2.yaml": 2, "cosyvoice.yaml": 1})


def _make(version: int, settings: Settings) -> "Engine":
    from polyvox.engines.cosyvoice.engine import CosyVoiceEngine

    return CosyVoiceEngine(settings, version)


def _voices(model: str, settings: Settings) -> Sequence[Voice]:
    version = int(model.removeprefix("cosyvoice"))
    from polyvox.engines.cosyvoice.voice_file import voices_in

    return voices_in(_locate(model, settings) or installed_folder(settings.models_dir, version))


def _recognize(folder: Path) -> ModelFolder | None:
    for name, version in _CONFIG_FILES.items():
        if (folder / name).is_file():
            return ModelFolder(f"cosyvoice{version}", {f"cosyvoice{version}_dir": folder})
    return None


def _check(folder: Path, settings: Settings) -> Sequence[str]:
    from polyvox.engines.cosyvoice.folder_check import check_folder

    return check_folder(folder, settings.section(CosyVoiceSettings).lm)


def _convert(folder: Path) -> Sequence[Path]:
    from polyvox.engines.cosyvoice.bundle import convert, open_model

    return list(convert(open_model(folder)))


def _export(folder: Path, to: Path | None, int8: bool) -> Sequence[Path]:
    from polyvox.engines.cosyvoice.onnx_export.export import export

    return export(folder, to or folder / "onnx", int8=int8)


def _locate(model: str, settings: Settings) -> Path | None:
    return settings.section(CosyVoiceSettings).folder(int(model.removeprefix("cosyvoice")))


COSYVOICE = EngineSpec(
    family="cosyvoice",
    title="CosyVoice",
    models={f"cosyvoice{version}": partial(_make, version) for version in LANGUAGES},
    languages={f"cosyvoice{version}": languages for version, languages in LANGUAGES.items()},
    voices=_voices,
    cloning=True,
    wordless=True,
    settings=CosyVoiceSettings,
    tuning=CosyVoiceTuning,
    requires=(Requirement("torch", "torch", "PyTorch"),),
    device_field="device",
    precision_field="precision",
    recognize=_recognize,
    tools=FolderTools(check=_check, convert=_convert, export=_export, locate=_locate),
)
