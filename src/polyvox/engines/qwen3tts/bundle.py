"""A model's folder in the published layout: validation and loading."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from polyvox.bundles.weights import read_weights
from polyvox.engines.qwen3tts.variants import CUSTOM_VOICE, Variant
from polyvox.errors import BundleError
from polyvox.models.loading import WeightsError
from polyvox.models.qwen3tts.codec_config import TokenizerConfig
from polyvox.models.qwen3tts.codec_decoder import CodecDecoder, load_codec_decoder
from polyvox.models.qwen3tts.codec_encoder import CodecEncoder, load_codec_encoder
from polyvox.models.qwen3tts.config import Qwen3TtsConfig
from polyvox.models.qwen3tts.speaker_encoder import SpeakerEncoder, load_speaker_encoder
from polyvox.models.qwen3tts.talker import Talker, load_talker
from polyvox.runtime.tokens import SamplingParams
from polyvox.text.tokenizers.byte_pairs import byte_pairs

_MAX_JSON_BYTES = 8 << 20
_CODEC = "speech_tokenizer"
FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "vocab.json",
    "merges.txt",
    f"{_CODEC}/config.json",
    f"{_CODEC}/model.safetensors",
)


@dataclass(frozen=True, slots=True)
class SamplingDefaults:
    """The sampling of the model's makers: of the first code of a frame, and of those behind it."""

    first: SamplingParams
    following: SamplingParams


@dataclass(frozen=True, slots=True)
class Qwen3TtsNetworks:
    """The networks of one model; only one that clones has both encoders."""

    config: Qwen3TtsConfig
    talker: Talker
    decoder: CodecDecoder
    speaker_encoder: SpeakerEncoder | None
    codec_encoder: CodecEncoder | None

    @property
    def device(self) -> torch.device:
        return self.talker.head.weight.device


class TextEncoder:
    """Ids of texts; what looks like a control token in a text is plain text."""

    def __init__(self, folder: Path) -> None:
        try:
            self._tokenizer: Tokenizer = byte_pairs(folder)
        except Exception as error:  # the library raises nothing more specific
            raise BundleError(f"The tokenizer in {folder} cannot be read ({error}); fetch its files again.") from error

    def encode(self, text: str) -> tuple[int, ...]:
        """Thread-safe."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)


def check_folder(folder: Path) -> None:
    """Raise BundleError where a folder lacks files of a model."""
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise BundleError(
            f"The Qwen3-TTS model in {folder} lacks {', '.join(missing)}; fetch it with `polyvox pull`, or name its "
            "folder in the setting 'qwen3tts_dirs'."
        )


def read_config(folder: Path, variant: Variant) -> Qwen3TtsConfig:
    """The sizes of the model in a folder, which must be the variant; BundleError says what does not fit."""
    try:
        config = Qwen3TtsConfig.parse(_read_json(folder / "config.json"))
    except WeightsError as error:
        raise BundleError(f"{folder}: {error}") from error
    if (config.kind, config.size) != (variant.kind, variant.size):
        raise BundleError(
            f"{folder} holds a model of type {config.kind} and size {config.size}; {variant.name} is {variant.kind} "
            f"and {variant.size}. Name the right folder in the setting 'qwen3tts_dirs'."
        )
    if config.kind == CUSTOM_VOICE and not config.codec_ids.speakers:
        raise BundleError(f"{folder}/config.json names no speakers in talker_config.spk_id.")
    return config


def read_sampling(folder: Path) -> SamplingDefaults:
    """The makers' sampling, from `generation_config.json`."""
    given = _read_json(folder / "generation_config.json")

    def params(prefix: str, sampled: str, penalty: float) -> SamplingParams:
        return SamplingParams(
            temperature=float(given.get(f"{prefix}temperature", 0.9)) if given.get(sampled, True) else 0.0,
            top_k=int(given.get(f"{prefix}top_k", 50)),
            top_p=float(given.get(f"{prefix}top_p", 1.0)),
            repetition_penalty=penalty,
        )

    try:
        penalty = float(given.get("repetition_penalty", 1.05))
        return SamplingDefaults(params("", "do_sample", penalty), params("subtalker_", "subtalker_dosample", 1.0))
    except (TypeError, ValueError) as error:
        raise BundleError(f"{folder}/generation_config.json has a value of another kind: {error}") from error


def load_networks(folder: Path, config: Qwen3TtsConfig, device: torch.device, dtype: torch.dtype) -> Qwen3TtsNetworks:
    """Load all networks on a device, the codec and the speaker encoder in float32; BundleError names the file."""
    weights = read_weights(folder / "model.safetensors")
    codec = read_weights(folder / _CODEC / "model.safetensors")
    try:
        sizes = TokenizerConfig.parse(_read_json(folder / _CODEC / "config.json"))
        if sizes.decoder.groups != config.groups or sizes.decoder.codebook != config.codes:
            raise WeightsError(f"{_CODEC}/config.json: its codes are not those of the language model.")
        encoder = config.speaker_encoder
        clones = encoder is not None
        return Qwen3TtsNetworks(
            config,
            load_talker(config, weights, dtype).to(device),
            load_codec_decoder(sizes.decoder, codec).to(device),
            None if encoder is None else load_speaker_encoder(encoder, weights).to(device),
            load_codec_encoder(sizes.encoder, codec).to(device) if clones else None,
        )
    except WeightsError as error:
        raise BundleError(f"The model in {folder} does not fit its config.json: {error}") from error


def _read_json(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        content = stream.read(_MAX_JSON_BYTES + 1)
    try:
        found = json.loads(content) if len(content) <= _MAX_JSON_BYTES else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BundleError(f"{path} is not a JSON file of a model; fetch it again.")
    return found
