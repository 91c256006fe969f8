"""Chatterbox's `EngineSpec`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.chatterbox.settings import ChatterboxSettings
from polyvox.engines.chatterbox.tuning import ChatterboxTuning
from polyvox.engines.chatterbox.variants import VARIANTS, Variant, built_in_voices
from polyvox.engines.spec import EngineSpec, FolderTools, ModelFolder, Requirement
from polyvox.errors import BundleError
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.engines.base import Engine

_ENDINGS = (".safetensors", ".pt")
_ENCODERS = ("ve.safetensors", "ve.pt")


def _make(name: str, settings: Settings) -> "Engine":
    from polyvox.engines.chatterbox.engine import ChatterboxEngine

    return ChatterboxEngine(VARIANTS[name], settings)


def _voices(model: str, settings: Settings) -> Sequence[Voice]:
    return built_in_voices(settings.section(ChatterboxSettings).folder(model, settings.models_dir))


def _recognize(folder: Path) -> ModelFolder | None:
    """Tell a published folder by the names of its weights; one that holds several models by its own name."""
    if not any((folder / name).is_file() for name in _ENCODERS):
        return None
    held = [variant.name for variant in VARIANTS.values() if _holds(folder, variant)]
    if not held:
        return None
    name = folder.name if folder.name in held else held[0]
    return ModelFolder(name, {"chatterbox_dirs": {name: folder}})


def _holds(folder: Path, variant: Variant) -> bool:
    return any((folder / (stem + ending)).is_file() for stem in variant.t3 for ending in _ENDINGS)


def _check(folder: Path, settings: Settings) -> Sequence[str]:
    """Open all of a folder's files as the engine does."""
    import torch

    from polyvox.engines.chatterbox.bundle import find_files, load_networks, released_sizes
    from polyvox.engines.chatterbox.text import load_text_encoder

    recognized = _recognize(folder)
    if recognized is None:
        raise BundleError(f"{folder} holds no Chatterbox model.")
    variant = VARIANTS[recognized.model]
    files = find_files(folder, variant, settings.section(ChatterboxSettings))
    networks = load_networks(files, released_sizes(variant), torch.device("cpu"), torch.bfloat16)
    ids = networks.t3.config.text
    load_text_encoder(folder, multilingual=variant.multilingual, turbo=variant.turbo, text_ids=ids)
    voice = "there is a voice" if networks.default_voice else "there is no voice"
    return [f"{variant.name}: all files are there, the weights of {files.t3.name} and {files.s3gen.name} fit, {voice}."]


CHATTERBOX = EngineSpec(
    family="chatterbox",
    title="Chatterbox",
    models={name: partial(_make, name) for name in VARIANTS},
    languages={name: variant.languages for name, variant in VARIANTS.items()},
    voices=_voices,
    cloning=True,
    wordless=True,
    settings=ChatterboxSettings,
    tuning=ChatterboxTuning,
    requires=(Requirement("torch", "torch", "PyTorch"),),
    device_field="device",
    precision_field="precision",
    recognize=_recognize,
    tools=FolderTools(check=_check, locate=ChatterboxSettings.locate),
)
