"""Published ZipVoice model folders and their vocoder: validated, then loaded."""

import json
from pathlib import Path
from typing import Annotated

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from polyvox.bundles.weights import read_plain, read_weights
from polyvox.engines.zipvoice.mel import BINS, FFT, HOP, SAMPLE_RATE
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.onnx_networks import OnnxZipVoice
from polyvox.engines.zipvoice.variants import VARIANTS, Variant
from polyvox.errors import BundleError
from polyvox.models.loading import StateDict, WeightsError
from polyvox.models.zipvoice.model import ZipVoice, config_from_published, load_zipvoice
from polyvox.models.zipvoice.vocos import Vocos, VocosConfig, load_vocos
from polyvox.text.tokenizers.vocabulary import TokenVocabulary, read_vocabulary

SPEAKER_TAGS = ("[S1]", "[S2]")
_MAX_JSON_BYTES = 1 << 20

_Size = Annotated[int, Field(ge=1, le=1 << 16)]
_Sizes = Annotated[list[_Size], Field(min_length=1, max_length=32)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _ModelSection(_Section):
    """The network's sizes."""

    fm_decoder_downsampling_factor: _Sizes
    fm_decoder_num_layers: _Sizes
    fm_decoder_cnn_module_kernel: _Sizes
    fm_decoder_feedforward_dim: _Size
    fm_decoder_num_heads: _Size
    fm_decoder_dim: _Size
    text_encoder_num_layers: _Size
    text_encoder_feedforward_dim: _Size
    text_encoder_cnn_module_kernel: _Size
    text_encoder_num_heads: _Size
    text_encoder_dim: _Size
    query_head_dim: _Size
    value_head_dim: _Size
    pos_head_dim: _Size
    pos_dim: _Size
    time_embed_dim: _Size
    text_embed_dim: _Size
    feat_dim: _Size


class _FeatureSection(_Section):
    sampling_rate: int
    type: str


class _ModelFile(_Section):
    """The content of `model.json`."""

    model: _ModelSection
    feature: _FeatureSection


def load_onnx_networks(variant: Variant, folder: Path, vocoder: Path, *, int8: bool, threads: int) -> ZipVoiceNetworks:
    """ONNX graphs in place of the PyTorch network, and the vocoder, on the CPU."""
    _read_sizes(folder / "model.json")
    vocabulary = read_vocabulary(folder / "tokens.txt")
    model = OnnxZipVoice(folder, int8=int8, threads=threads)
    return ZipVoiceNetworks(model, _load_vocos(vocoder), vocabulary, _speaker_tags(variant, vocabulary, folder))


def load_networks(
    variant: Variant, folder: Path, vocoder: Path, device: torch.device, dtype: torch.dtype = torch.float32
) -> ZipVoiceNetworks:
    """Both networks on a device, the acoustic one in `dtype`; `BundleError` names the folder and what does not fit."""
    vocabulary = read_vocabulary(folder / "tokens.txt")
    tags = _speaker_tags(variant, vocabulary, folder)
    zipvoice = _load_zipvoice(variant, folder, _read_state(folder), vocabulary, tags)
    return ZipVoiceNetworks(zipvoice.to(device, dtype), _load_vocos(vocoder).to(device), vocabulary, tags)


def load_single_speaker(folder: Path) -> ZipVoice:
    """The base or the distilled network in a folder, told apart by its weights."""
    if missing := [name for name in ("model.json", "tokens.txt") if not (folder / name).is_file()]:
        raise BundleError(f"{folder} has no {missing[0]}: it is not the folder of a ZipVoice model.")
    state = _read_state(folder)
    if "spk_embed.weight" in state:
        raise BundleError(f"The model in {folder} is for dialogues, which cannot be exported; run it in PyTorch.")
    variant = VARIANTS["zipvoice_distill" if "fm_decoder.guidance_scale_embed.weight" in state else "zipvoice"]
    return _load_zipvoice(variant, folder, state, read_vocabulary(folder / "tokens.txt"), None)


def _load_zipvoice(
    variant: Variant, folder: Path, state: StateDict, vocabulary: TokenVocabulary, tags: tuple[int, int] | None
) -> ZipVoice:
    sizes = _read_sizes(folder / "model.json").model_dump()
    config = config_from_published(
        sizes, len(vocabulary), distilled=variant.distilled, channels=variant.channels, speaker_tags=tags
    )
    try:
        return load_zipvoice(config, state)
    except (WeightsError, KeyError) as error:
        raise BundleError(f"The weights of {variant.name} in {folder} do not fit: {error}") from error


def _read_sizes(path: Path) -> _ModelSection:
    with path.open("rb") as stream:
        content = stream.read(_MAX_JSON_BYTES + 1)
    try:
        if len(content) > _MAX_JSON_BYTES:
            raise ValueError("too large")
        found = _ModelFile.model_validate(json.loads(content))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BundleError(f"{path}: {where}: {first['msg']}; fetch the model again.") from error
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is not a JSON file of a model; fetch the model again.") from error
    if (found.feature.sampling_rate, found.feature.type, found.model.feat_dim) != (SAMPLE_RATE, "vocos", BINS):
        raise BundleError(f"{path} describes a model that does not work with {BINS} mel bands of {SAMPLE_RATE} Hz.")
    stacks = (
        found.model.fm_decoder_downsampling_factor,
        found.model.fm_decoder_num_layers,
        found.model.fm_decoder_cnn_module_kernel,
    )
    if len({len(stack) for stack in stacks}) > 1:
        raise BundleError(f"{path} does not describe all stacks of the decoder; fetch the model again.")
    return found.model


def _speaker_tags(variant: Variant, vocabulary: TokenVocabulary, folder: Path) -> tuple[int, int] | None:
    if not variant.dialogue:
        return None
    if any(tag not in vocabulary for tag in SPEAKER_TAGS):
        raise BundleError(f"{folder / 'tokens.txt'} has no [S1] and [S2]: it is not of a dialogue model.")
    return vocabulary[SPEAKER_TAGS[0]], vocabulary[SPEAKER_TAGS[1]]


def _read_state(folder: Path) -> dict[str, Tensor]:
    """The state dict of a safetensors file, or the `model` entry of a checkpoint."""
    path = folder / "model.safetensors"
    if path.is_file():
        return read_weights(path)
    content = read_plain(folder / "model.pt")
    state = content.get("model") if isinstance(content, dict) else None
    if not isinstance(state, dict) or not all(isinstance(tensor, Tensor) for tensor in state.values()):
        raise BundleError(f"{folder / 'model.pt'} has no state dict under 'model'; fetch the model again.")
    return {str(name): tensor for name, tensor in state.items()}


def _load_vocos(folder: Path) -> Vocos:
    state = read_weights(folder / "pytorch_model.bin")
    blocks = {name.split(".")[2] for name in state if name.startswith("backbone.convnext.")}
    try:
        width, bins, _ = state["backbone.embed.weight"].shape
        hidden = state["backbone.convnext.0.pwconv1.weight"].shape[0]
        config = VocosConfig(bins, width, hidden, len(blocks), state["head.out.weight"].shape[0] - 2, HOP)
        if (config.bins, config.fft) != (BINS, FFT):
            raise WeightsError(f"it makes {config.fft}-point spectra of {bins} bands, not {FFT} of {BINS}.")
        return load_vocos(config, state)
    except (WeightsError, KeyError, ValueError) as error:
        raise BundleError(f"The vocoder in {folder} does not fit: {error}") from error
