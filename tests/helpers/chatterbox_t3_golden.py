"""Chatterbox's voice encoder and token networks with the tiny weights that the original was recorded on."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from helpers.cosyvoice_golden import lasting
from polyvox.engines.chatterbox.text import (
    EnglishTextEncoder,
    MultilingualTextEncoder,
    TextEncoder,
    TurboTextEncoder,
)
from polyvox.models.chatterbox.gpt2 import Gpt2Config
from polyvox.models.chatterbox.t3 import T3, T3Config, TurboConfig, TurboT3, load_t3, load_turbo_t3
from polyvox.models.chatterbox.voice_encoder import VoiceEncoder, VoiceEncoderConfig, load_voice_encoder
from polyvox.models.loading import under
from polyvox.models.qwen.model import QwenConfig, RopeScaling

FOLDER = Path(__file__).parents[1] / "golden" / "chatterbox"
VOICE_ENCODER = VoiceEncoderConfig(bins=40, hidden=28, layers=3, width=24)
LLAMA = T3Config(
    text=2454,
    text_positions=256,
    speech_positions=192,
    speaker=24,
    backbone=QwenConfig(
        vocabulary=0,
        hidden=24,
        feed_forward=64,
        layers=14,
        heads=16,
        key_heads=16,
        head_width=8,
        rope_theta=500_000.0,
        norm_eps=1e-5,
        qkv_bias=False,
        rope_scaling=RopeScaling(),
    ),
)
GPT2 = TurboConfig(text=340, speaker=24, text_ids=100, backbone=Gpt2Config(hidden=24, layers=3, heads=3, positions=640))


@cache
@lasting
def golden(name: str) -> dict[str, Tensor]:
    return load_file(FOLDER / f"{name}.safetensors")


@cache
def runs() -> dict[str, dict[str, float | str]]:
    """Parameters of the recorded runs; three of the token network alone and three of the whole model."""
    found: dict[str, dict[str, float | str]] = json.loads((FOLDER / "t3.json").read_text())
    return found


def published(name: str) -> dict[str, Tensor]:
    """A state dict under the published names; rows of embeddings that no recorded run needs are zeros."""
    state = dict(golden(name))
    for table in ("speech_emb", "text_emb"):
        count, *ids = state.pop(f"{table}.rows").tolist()
        given = state[f"{table}.weight"]
        state[f"{table}.weight"] = torch.zeros(count, given.shape[1]).index_copy_(0, torch.tensor(ids), given)
    return state


@cache
@lasting
def t3() -> T3:
    return load_t3(LLAMA, published("t3_llama"))


@cache
@lasting
def turbo() -> TurboT3:
    return load_turbo_t3(GPT2, published("t3_gpt2"))


@cache
@lasting
def voice_encoder() -> VoiceEncoder:
    return load_voice_encoder(VOICE_ENCODER, under("weights.", golden("voice_encoder")))


def text_ids(run: str) -> list[int]:
    """The ids of a run's text, without a frame: recorded, or of the text itself for runs of whole models."""
    if run.startswith("whole_"):
        text, language = str(runs()[run]["text"]), runs()[run].get("language")
        return list(_encoder(run).encode(text, None if language is None else str(language)))
    ids: list[int] = golden("t3")[f"{run}.text_ids"].tolist()
    return ids if run == "turbo" else ids[1:-1]


def _encoder(run: str) -> TextEncoder:
    files = FOLDER / "tokenizers"
    if run == "whole_turbo":
        return TurboTextEncoder(files / "turbo_tiny")
    if run == "whole_english":
        return EnglishTextEncoder(files / "tokenizer_english.json")
    return MultilingualTextEncoder(files / "tokenizer_multilingual_v1.json", files / "cangjie_tiny.json")


def race(weights: Tensor, seed: int) -> int:
    """The token that the original draws by this seed, from weights in proportion to its probabilities."""
    # The original's tables were longer, and its variates with them, but those come in order.
    variates = np.random.RandomState(seed).standard_exponential(len(weights)).astype(np.float32)
    return int((weights / torch.from_numpy(variates)).argmax())
