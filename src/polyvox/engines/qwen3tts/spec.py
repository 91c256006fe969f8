"""Qwen3-TTS' `EngineSpec`."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.qwen3tts.settings import Qwen3TtsSettings
from polyvox.engines.qwen3tts.tuning import Qwen3TtsTuning
from polyvox.engines.qwen3tts.variants import LANGUAGES, VARIANTS, VOICE_DESIGN, built_in_voices
from polyvox.engines.spec import EngineSpec, FolderTools, ModelFolder, Requirement
from polyvox.errors import BundleError
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.engines.base import Engine

_CODEC = "speech_tokenizer"
_MAX_CONFIG_BYTES = 1 << 20


def _make(name: str, settings: Settings) -> "Engine":
    from polyvox.engines.qwen3tts.engine import Qwen3TtsEngine

    return Qwen3TtsEngine(VARIANTS[name], settings)


def _voices(model: str, _: Settings) -> Sequence[Voice]:
    return built_in_voices(model)


def _recognize(folder: Path) -> ModelFolder | None:
    """Tell a published folder by its codec and its type; one whose kind is not served is an error."""
    path = folder / "config.json"
    if not (folder / _CODEC).is_dir() or not path.is_file() or path.stat().st_size > _MAX_CONFIG_BYTES:
        return None
    try:
        config = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(config, dict) or config.get("model_type") != "qwen3_tts":
        return None
    kind = config.get("tts_model_type"), config.get("tts_model_size")
    for variant in VARIANTS.values():
        if (variant.kind, variant.size) == kind:
            return ModelFolder(variant.name, {"qwen3tts_dirs": {variant.name: folder}})
    raise BundleError(f"{folder} holds a Qwen3-TTS model of type {kind[0]} and size {kind[1]}, which is not served.")


def _check(folder: Path, settings: Settings) -> Sequence[str]:
    """Open all of a folder's files as the engine does."""
    import torch

    from polyvox.engines.qwen3tts.bundle import TextEncoder, check_folder, load_networks, read_config, read_sampling

    recognized = _recognize(folder)
    if recognized is None:
        raise BundleError(f"{folder} holds no Qwen3-TTS model.")
    check_folder(folder)
    config = read_config(folder, VARIANTS[recognized.model])
    read_sampling(folder)
    TextEncoder(folder)
    load_networks(folder, config, torch.device("cpu"), torch.bfloat16)
    return [f"{recognized.model}: all files are there, and the weights fit."]


_CLONING = frozenset(name for name, variant in VARIANTS.items() if variant.cloning)


QWEN3TTS = EngineSpec(
    family="qwen3tts",
    title="Qwen3-TTS",
    models={name: partial(_make, name) for name in VARIANTS},
    languages=dict.fromkeys(VARIANTS, LANGUAGES),
    voices=_voices,
    cloning=_CLONING,
    wordless=_CLONING,
    voice_design=frozenset(name for name, variant in VARIANTS.items() if variant.kind == VOICE_DESIGN),
    settings=Qwen3TtsSettings,
    tuning=Qwen3TtsTuning,
    requires=(Requirement("torch", "torch", "PyTorch"),),
    device_field="device",
    precision_field="precision",
    recognize=_recognize,
    tools=FolderTools(check=_check, locate=Qwen3TtsSettings.locate),
)
