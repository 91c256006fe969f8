"""A model's folder in the published layout: its files, the sizes of its networks, and loading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from polyvox.bundles.weights import read_plain, read_weights
from polyvox.engines.chatterbox.settings import ChatterboxSettings
from polyvox.engines.chatterbox.variants import CONDITIONS, Variant
from polyvox.engines.chatterbox.voice import ChatterboxVoice, read_conditions
from polyvox.errors import BundleError
from polyvox.models.chatterbox.gpt2 import Gpt2Config
from polyvox.models.chatterbox.s3gen import MEANFLOW_STEPS, S3Gen, S3GenConfig, load_s3gen, meanflow
from polyvox.models.chatterbox.t3 import T3, T3Config, TurboConfig, TurboT3, load_t3, load_turbo_t3
from polyvox.models.chatterbox.voice_encoder import VoiceEncoder, VoiceEncoderConfig, load_voice_encoder
from polyvox.models.cosyvoice.flow_v2 import Flow2Config
from polyvox.models.loading import StateDict, WeightsError

ENDINGS = (".safetensors", ".pt")
_VOICE_ENCODER = "ve"
_TEXT_ROWS = "text_emb.weight"


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """Sizes of the networks of one model: the folders say nothing of them."""

    t3: T3Config | TurboConfig = field(default_factory=T3Config)
    voice_encoder: VoiceEncoderConfig = field(default_factory=VoiceEncoderConfig)
    s3gen: S3GenConfig = field(default_factory=S3GenConfig)


def released_sizes(variant: Variant) -> ModelSizes:
    """Those of the released models; how many text ids there are is read from the weights."""
    if variant.name == "chatterbox-nano":
        return ModelSizes(TurboConfig(backbone=Gpt2Config(hidden=768, layers=12, heads=12)))
    return ModelSizes(TurboConfig() if variant.turbo else T3Config())


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of weights of one model; `conditions` is the voice that comes with it, if any."""

    t3: Path
    s3gen: Path
    voice_encoder: Path
    conditions: Path | None


@dataclass(frozen=True, slots=True)
class ChatterboxNetworks:
    """The networks of one model, and the voice that comes with it."""

    t3: T3 | TurboT3
    voice_encoder: VoiceEncoder
    s3gen: S3Gen
    default_voice: ChatterboxVoice | None
    device: torch.device


def find_files(folder: Path, variant: Variant, settings: ChatterboxSettings) -> ModelFiles:
    """The files that the settings name, else the newest release of each that is there; BundleError names what lacks."""
    conditions = folder / CONDITIONS
    return ModelFiles(
        _file(folder, variant, variant.t3, settings.t3_files.get(variant.name)),
        _file(folder, variant, variant.s3gen, settings.s3gen_files.get(variant.name)),
        _file(folder, variant, (_VOICE_ENCODER,), None),
        conditions if conditions.is_file() else None,
    )


def _file(folder: Path, variant: Variant, stems: Sequence[str], chosen: str | None) -> Path:
    names = [chosen] if chosen else [stem + ending for stem in stems for ending in ENDINGS]
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise BundleError(
            f"The model {variant.name} in {folder} lacks {names[0]}; fetch it with `polyvox pull`, or name its folder "
            "in the setting 'chatterbox_dirs'."
        )
    return found


def load_networks(
    files: ModelFiles,
    sizes: ModelSizes,
    device: torch.device,
    dtype: torch.dtype,
    meanflow_steps: int = MEANFLOW_STEPS,
) -> ChatterboxNetworks:
    """Load all networks on a device, T3 and the flow in `dtype`, the rest in float32; BundleError names the file."""
    t3_state = read_state(files.t3)
    t3_config = replace(sizes.t3, text=_text_rows(files.t3, t3_state))
    path = files.t3
    try:
        t3: T3 | TurboT3
        if isinstance(t3_config, TurboConfig):
            t3 = load_turbo_t3(t3_config, t3_state, dtype)
        else:
            t3 = load_t3(t3_config, t3_state, dtype)
        path = files.voice_encoder
        voice_encoder = load_voice_encoder(sizes.voice_encoder, read_state(path))
        path = files.s3gen
        s3gen_sizes = replace(sizes.s3gen, flow=flow_sizes(sizes, meanflow_steps))
        s3gen = load_s3gen(s3gen_sizes, read_state(path), dtype)
    except WeightsError as error:
        raise BundleError(f"{path.name} in {path.parent} does not fit its model: {error}") from error
    voice = files.conditions and read_conditions(files.conditions, t3_config.speaker, t3_config.prompt_tokens)
    return ChatterboxNetworks(t3.to(device), voice_encoder.to(device), s3gen.to(device), voice or None, device)


def flow_sizes(sizes: ModelSizes, meanflow_steps: int = MEANFLOW_STEPS) -> Flow2Config:
    """Turbo's and Nano's flow is one of mean velocities."""
    flow = sizes.s3gen.flow
    if not isinstance(sizes.t3, TurboConfig):
        return flow
    return replace(flow, flow=meanflow(flow.flow, meanflow_steps))


def _text_rows(path: Path, state: StateDict) -> int:
    if _TEXT_ROWS not in state or state[_TEXT_ROWS].dim() != 2:
        raise BundleError(f"{path.name} in {path.parent} is not a language model of Chatterbox: it lacks {_TEXT_ROWS}.")
    return len(state[_TEXT_ROWS])


def read_state(path: Path) -> dict[str, Tensor]:
    """The state dict of a file; one of PyTorch may hold it in a list under `model`."""
    if path.suffix == ".safetensors":
        return read_weights(path)
    content = read_plain(path)
    if isinstance(content, Mapping) and "model" in content:
        content = content["model"]
        content = content[0] if isinstance(content, list | tuple) and content else content
    if not isinstance(content, Mapping) or not all(isinstance(tensor, Tensor) for tensor in content.values()):
        raise BundleError(f"{path.name} is not a state dict: it should hold tensors by name and nothing else.")
    return {str(name): tensor for name, tensor in content.items()}
