"""A model's folder: validation and loading."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml

from polyvox.bundles.weights import read_weights
from polyvox.engines.pockettts.text import TextDivider, TextRules
from polyvox.engines.pockettts.variants import Variant
from polyvox.engines.pockettts.voice_state import fingerprint_of
from polyvox.errors import BundleError
from polyvox.models.loading import WeightsError
from polyvox.models.pockettts.codec_decoder import CodecDecoder, load_codec_decoder
from polyvox.models.pockettts.codec_encoder import CodecEncoder, load_codec_encoder
from polyvox.models.pockettts.config import PocketConfig
from polyvox.models.pockettts.flow_head import FlowHead, load_flow_head
from polyvox.models.pockettts.flow_lm import FlowLm, load_flow_lm
from polyvox.text.tokenizers.sentence_pieces import sentence_pieces

WEIGHTS, CONFIG = "model.safetensors", "config.yaml"
TOKENIZERS = ("tokenizer.json", "tokenizer.model")
_MAX_YAML_BYTES = 1 << 20
_MOST_REPLACEMENTS = 1000
_MOST = 100
_TAIL = "model_recommended_frames_after_eos"


@dataclass(frozen=True, slots=True)
class ModelRules:
    """The rest of a configuration besides sizes: rules for texts, and the defaults of sampling."""

    text: TextRules
    temperature: float
    threshold: float


@dataclass(frozen=True, slots=True)
class PocketNetworks:
    """The networks of one model."""

    config: PocketConfig
    lm: FlowLm
    head: FlowHead
    decoder: CodecDecoder
    encoder: CodecEncoder
    fingerprint: str
    """Tells these weights from others, which voices would not fit."""

    @property
    def device(self) -> torch.device:
        return self.lm.embedding.device


def check_folder(folder: Path) -> Path:
    """The path of the tokenizer; BundleError where a folder lacks files of a model."""
    tokenizer = next((folder / name for name in TOKENIZERS if (folder / name).is_file()), None)
    if tokenizer is None or not (folder / WEIGHTS).is_file():
        missing = WEIGHTS if tokenizer is not None else " or ".join(TOKENIZERS)
        raise BundleError(
            f"The Pocket TTS model in {folder} lacks {missing}; fetch it with `polyvox pull`, or name its folder in "
            "the setting 'pockettts_dirs'."
        )
    return tokenizer


def read_config(folder: Path, variant: Variant) -> tuple[PocketConfig, ModelRules]:
    """The sizes and rules of the model in a folder: those of its `config.yaml`, else those of the released model."""
    given: Mapping[str, Any] = _read_yaml(folder / CONFIG) if (folder / CONFIG).is_file() else variant.config
    try:
        return PocketConfig.parse(given), _rules(given)
    except WeightsError as error:
        raise BundleError(f"{folder}: {error}") from error


def load_divider(tokenizer: Path, config: PocketConfig, rules: ModelRules) -> TextDivider:
    try:
        pieces = sentence_pieces(tokenizer)
    except Exception as error:  # the library raises nothing more specific
        raise BundleError(f"The tokenizer {tokenizer} cannot be read ({error}); fetch it again.") from error
    if pieces.get_vocab_size() > config.vocabulary:
        raise BundleError(
            f"{tokenizer} has {pieces.get_vocab_size()} pieces, the model {config.vocabulary}; fetch the model's own."
        )
    return TextDivider(pieces, rules.text)


def load_networks(folder: Path, config: PocketConfig, device: torch.device, dtype: torch.dtype) -> PocketNetworks:
    """Load all networks on a device, all but the backbone in float32; BundleError names what does not fit."""
    weights = read_weights(folder / WEIGHTS)
    try:
        lm = load_flow_lm(config, weights, dtype)
        fingerprint = fingerprint_of(
            *(weights[f"flow_lm.{name}"].float().numpy() for name in ("bos_emb", "out_norm.weight", "out_eos.weight"))
        )
        return PocketNetworks(
            config,
            lm.to(device),
            load_flow_head(config, weights).to(device),
            load_codec_decoder(config.codec, weights).to(device),
            load_codec_encoder(config.codec, weights).to(device),
            fingerprint,
        )
    except WeightsError as error:
        raise BundleError(f"The model in {folder} does not fit its configuration: {error}") from error


def _rules(given: Mapping[str, Any]) -> ModelRules:
    replacements = given.get("replace_characters") or {}
    plain = isinstance(replacements, Mapping) and len(replacements) <= _MOST_REPLACEMENTS
    if not plain or not all(isinstance(a, str) and len(a) == 1 and isinstance(b, str) for a, b in replacements.items()):
        raise WeightsError("config: replace_characters is no table of characters.")

    def flag(name: str, *, default: bool) -> bool:
        value = given.get(name, default)
        if not isinstance(value, bool):
            raise WeightsError(f"config: {name} is neither true nor false.")
        return value

    def number(name: str, default: float) -> float:
        value = given.get(name, default)
        if not isinstance(value, int | float) or not abs(value) <= _MOST:
            raise WeightsError(f"config: {name} is no number of a usual size.")
        return float(value)

    tail = None if given.get(_TAIL) is None else int(number(_TAIL, 0))
    rules = TextRules(
        dict(replacements),
        pads_short=flag("pad_with_spaces_for_short_inputs", default=False),
        drops_semicolons=flag("remove_semicolons", default=False),
        ends_sentences=flag("append_terminal_punctuation", default=True),
        capitalizes=flag("capitalize_first_letter", default=True),
        tail=tail,
    )
    return ModelRules(rules, number("default_temperature", 0.3), number("default_eos_threshold", -4.0))


def _read_yaml(path: Path) -> Mapping[str, Any]:
    with path.open("rb") as stream:
        content = stream.read(_MAX_YAML_BYTES + 1)
    try:
        found = yaml.safe_load(content) if len(content) <= _MAX_YAML_BYTES else None
    except (yaml.YAMLError, RecursionError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise BundleError(f"{path} is not the configuration of a model; fetch it again.")
    return found
