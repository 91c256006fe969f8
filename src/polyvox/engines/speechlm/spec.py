"""Spec of the codec language model."""

from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.spec import EngineSpec, FolderTools, ModelFolder, Requirement
from polyvox.engines.speechlm.settings import LANGUAGES, NAME, SpeechLmSettings, built_in_voices
from polyvox.engines.speechlm.tuning import SpeechLmTuning

if TYPE_CHECKING:
    from polyvox.engines.base import Engine

_FILES = ("config.json", "tokenizer.json")


def _make(settings: Settings) -> "Engine":
    from polyvox.engines.speechlm.engine import SpeechLmEngine

    return SpeechLmEngine(settings)


def _recognize(folder: Path) -> ModelFolder | None:
    if all((folder / name).is_file() for name in _FILES):
        return ModelFolder(NAME, {"speechlm_dir": folder})
    return None


def _locate(_: str, settings: Settings) -> Path | None:
    return settings.section(SpeechLmSettings).dir


SPEECHLM = EngineSpec(
    family=NAME,
    title="The codec language model",
    models={NAME: _make},
    languages={NAME: LANGUAGES},
    voices=built_in_voices,
    cloning=True,
    settings=SpeechLmSettings,
    tuning=SpeechLmTuning,
    requires=(Requirement("torch", "torch", "PyTorch"),),
    device_field="device",
    precision_field="precision",
    recognize=_recognize,
    tools=FolderTools(locate=_locate),
)
