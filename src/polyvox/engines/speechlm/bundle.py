"""The model folders of the language model and the codec: validation and loading."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from tokenizers import Tokenizer
from torch import Tensor, nn

from polyvox.bundles.weights import read_weights
from polyvox.engines.speechlm.prompt_builder import END, SPEECH, START, code_text
from polyvox.errors import BundleError
from polyvox.models.loading import WeightsError
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.speechlm.codec_lm import CodecLm, CodecLmConfig, load_codec_lm
from polyvox.models.speechlm.neucodec import TOKENS, NeuCodec, NeuCodecConfig, load_neucodec

_CODEC_FILES = ("model.safetensors", "pytorch_model.bin")
_MAX_JSON_BYTES = 1 << 20
ConfigFile = TypeVar("ConfigFile", bound=BaseModel)
Network = TypeVar("Network", bound=nn.Module)

_EMBED, _HEAD = "generator.backbone.embed.weight", "generator.head.out.weight"


class _LmConfigFile(BaseModel):
    """`config.json` of the language model."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model_type: Literal["qwen2", "qwen3"]
    vocab_size: int = Field(ge=1, le=1 << 24)
    hidden_size: int = Field(ge=1, le=1 << 16)
    intermediate_size: int = Field(ge=1, le=1 << 18)
    num_hidden_layers: int = Field(ge=1, le=512)
    num_attention_heads: int = Field(ge=1, le=1024)
    num_key_value_heads: int = Field(ge=1, le=1024)
    head_dim: int = Field(0, ge=0, le=4096)
    rope_theta: float = Field(1e6, gt=0)
    rms_norm_eps: float = Field(1e-6, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _nested_rope(cls, content: object) -> object:
        """Newer files have `rope_theta` in a section of its own."""
        if isinstance(content, dict) and isinstance(rope := content.get("rope_parameters"), dict):
            return {"rope_theta": rope.get("rope_theta", 1e6), **content}
        return content

    def backbone(self) -> QwenConfig:
        return QwenConfig(
            vocabulary=self.vocab_size,
            hidden=self.hidden_size,
            feed_forward=self.intermediate_size,
            layers=self.num_hidden_layers,
            heads=self.num_attention_heads,
            key_heads=self.num_key_value_heads,
            head_width=self.head_dim or self.hidden_size // self.num_attention_heads,
            rope_theta=self.rope_theta,
            norm_eps=self.rms_norm_eps,
            qkv_bias=self.model_type == "qwen2",
            qk_norm=self.model_type == "qwen3",
        )


class _CodecConfigFile(BaseModel):
    """`config.json` of the codec, which is optional; all other sizes follow from the shapes of the weights."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    heads: int = Field(16, ge=1, le=1024)


@dataclass(frozen=True, slots=True)
class CodecVocabulary:
    """A tokenizer whose vocabulary was extended by the codec's tokens."""

    tokenizer: Tokenizer
    first_code: int
    codes: int
    end: int

    def encode(self, text: str) -> list[int]:
        """The ids of a text, control tokens included. Thread-safe."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def read_vocabulary(folder: Path) -> CodecVocabulary:
    """Read `tokenizer.json`; BundleError where it has no speech tokens."""
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise BundleError(f"{path} cannot be read as a tokenizer ({error}); fetch it again.") from error
    wanted = (START, END, SPEECH, code_text(0))
    ids = {name: number for name in wanted if (number := tokenizer.token_to_id(name)) is not None}
    if missing := [name for name in wanted if name not in ids]:
        raise BundleError(f"{path} has no {', '.join(missing)}: its model was not made for speech.")
    first = ids[code_text(0)]
    codes = 1
    while codes < TOKENS and tokenizer.token_to_id(code_text(codes)) == first + codes:
        codes += 1
    return CodecVocabulary(tokenizer, first, codes, ids[END])


def load_lm(folder: Path, vocabulary: CodecVocabulary, device: torch.device, dtype: torch.dtype) -> CodecLm:
    """Load the language model on a device."""
    sizes = _read_json(folder / "config.json", _LmConfigFile)
    config = CodecLmConfig(vocabulary.first_code, vocabulary.end, vocabulary.codes, sizes.backbone())
    state: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        state |= read_weights(path)
    try:
        return load_codec_lm(config, state, dtype).to(device)
    except WeightsError as error:
        raise BundleError(f"The language model in {folder} does not fit its config.json: {error}") from error


def load_codec(folder: Path, device: torch.device, dtype: torch.dtype = torch.float32) -> NeuCodec:
    """Load the codec's decoder on a device."""
    heads = _read_json(folder / "config.json", _CodecConfigFile).heads if (folder / "config.json").is_file() else 16
    state = read_weights(codec_file(folder), mapped=True)
    try:
        hidden = state[_EMBED].shape[0]
        depth = len({name.split(".")[3] for name in state if name.startswith("generator.backbone.transformers.")})
        config = NeuCodecConfig(hidden, depth, heads, hop=(state[_HEAD].shape[0] - 2) // 4)
        return moved(load_neucodec(config, state, dtype), device)
    except (WeightsError, KeyError, IndexError) as error:
        raise BundleError(f"The weights in {folder} are not of NeuCodec: {error}") from error


def check_lm_folder(folder: Path) -> None:
    """Raise BundleError where a folder lacks files of a language model."""
    missing = [name for name in ("config.json", "tokenizer.json") if not (folder / name).is_file()]
    missing += [] if any(folder.glob("*.safetensors")) else ["*.safetensors"]
    if missing:
        raise BundleError(
            f"The language model in {folder} lacks {', '.join(missing)}; put the files of one there that speaks in "
            "NeuCodec's tokens, name their folder in the setting 'speechlm_dir', or name a server in 'speechlm_url'."
        )


def check_codec_folder(folder: Path) -> None:
    """Raise BundleError where a folder lacks NeuCodec's weights."""
    if not any((folder / name).is_file() for name in _CODEC_FILES):
        raise BundleError(
            f"There is no {' or '.join(_CODEC_FILES)} in {folder}; run `polyvox pull neucodec`, put NeuCodec's weights "
            "there, or name their folder in the setting 'neucodec_dir'."
        )


def codec_file(folder: Path) -> Path:
    """The file of NeuCodec's weights; BundleError where there is none."""
    check_codec_folder(folder)
    return next(folder / name for name in _CODEC_FILES if (folder / name).is_file())


def moved(network: Network, device: torch.device) -> Network:
    """The network on a device, with copies of its weights: those of a mapped file change with the file."""
    for parameter in network.parameters():
        parameter.data = parameter.data.to(device, copy=True)
    return network


def _read_json(path: Path, kind: type[ConfigFile]) -> ConfigFile:
    with path.open("rb") as stream:
        content = stream.read(_MAX_JSON_BYTES + 1)
    try:
        if len(content) > _MAX_JSON_BYTES:
            raise ValueError("too large")
        return kind.model_validate(json.loads(content))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BundleError(f"{path}: {field}: {first['msg']}; fetch the file again.") from error
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is not a JSON file of a model; fetch it again.") from error
