"""Pocket TTS' `EngineSpec`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.pockettts.settings import PocketTtsSettings
from polyvox.engines.pockettts.tuning import PocketTtsTuning
from polyvox.engines.pockettts.variants import VARIANTS
from polyvox.engines.pockettts.voices import FOLDER, listed_voices
from polyvox.engines.spec import EngineSpec, FolderTools, ModelFolder, Requirement
from polyvox.errors import BundleError
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.engines.base import Engine

_MAX_HEADER = 1 << 20
_LM, _CODEC = b'"flow_lm.bos_emb"', b'"mimi.quantizer.output_proj.weight"'
_BACKBONE = b'"flow_lm.transformer.layers.0.self_attn.in_proj.weight"'


def _make(name: str, settings: Settings) -> "Engine":
    from polyvox.engines.pockettts.engine import PocketTtsEngine

    return PocketTtsEngine(VARIANTS[name], settings)


def _folder(model: str, settings: Settings) -> Path:
    return settings.section(PocketTtsSettings).dirs.get(model) or settings.models_dir / model


def _voices(model: str, settings: Settings) -> Sequence[Voice]:
    return listed_voices(_folder(model, settings), VARIANTS[model])


def _recognize(folder: Path) -> ModelFolder | None:
    """Tell a model by the tensors that its weights name; its folder's name says which one, else its size does."""
    path = folder / "model.safetensors"
    if not path.is_file():
        return None
    with path.open("rb") as file:
        header = file.read(_MAX_HEADER)
    if _LM not in header or _CODEC not in header or _BACKBONE not in header:
        return None
    sized = folder.name if folder.name in VARIANTS else _by_width(header)
    return ModelFolder(sized, {"pockettts_dirs": {sized: folder}})


def _by_width(header: bytes) -> str:
    """The released model of a width; that of a language cannot be told from the English one."""
    entry = header.split(_BACKBONE, 1)[1][:200]
    widths = {b",512]": "pockettts-18m", b",224]": "pockettts-7m", b",112]": "pockettts-2m"}
    return next((name for width, name in widths.items() if width in entry.split(b"}")[0]), "pockettts")


def _check(folder: Path, settings: Settings) -> Sequence[str]:
    """Open all of a folder's files as the engine does."""
    import torch

    from polyvox.engines.pockettts.bundle import check_folder, load_divider, load_networks, read_config
    from polyvox.engines.pockettts.voice_state import read_voice

    recognized = _recognize(folder)
    if recognized is None:
        raise BundleError(f"{folder} holds no Pocket TTS model.")
    variant, tokenizer = VARIANTS[recognized.model], check_folder(folder)
    config, rules = read_config(folder, variant)
    load_divider(tokenizer, config, rules)
    load_networks(folder, config, torch.device("cpu"), torch.float32)
    voices = listed_voices(folder, variant)
    for voice in voices:
        read_voice(folder / FOLDER / f"{voice.id}.safetensors", config)
    return [f"{recognized.model}: all files are there, the weights fit, and so do {len(voices)} voices."]


_CLONING = frozenset(name for name, variant in VARIANTS.items() if variant.cloning)


POCKETTTS = EngineSpec(
    family="pockettts",
    title="Pocket TTS",
    models={name: partial(_make, name) for name in VARIANTS},
    languages={name: frozenset({variant.language}) for name, variant in VARIANTS.items()},
    voices=_voices,
    cloning=_CLONING,
    wordless=_CLONING,
    settings=PocketTtsSettings,
    tuning=PocketTtsTuning,
    requires=(Requirement("torch", "torch", "PyTorch"),),
    threads_field="threads",
    device_field="device",
    precision_field="precision",
    recognize=_recognize,
    tools=FolderTools(check=_check, locate=PocketTtsSettings.locate),
)
