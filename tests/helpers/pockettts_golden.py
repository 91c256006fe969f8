"""Our networks of Pocket TTS with the tiny weights that the original was recorded on, and what it computed."""

import json
import wave
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from safetensors.torch import load_file
from torch import Tensor

from helpers.cosyvoice_golden import lasting
from polyvox.engines.pockettts.recordings import ending_on_pause
from polyvox.models.pockettts.codec_decoder import CodecDecoder, load_codec_decoder
from polyvox.models.pockettts.codec_encoder import CodecEncoder, load_codec_encoder
from polyvox.models.pockettts.config import PocketConfig
from polyvox.models.pockettts.flow_head import FlowHead, load_flow_head
from polyvox.models.pockettts.flow_lm import FlowLm, load_flow_lm
from polyvox.types import Pcm

FOLDER = Path(__file__).parents[1] / "golden" / "pockettts"
RATE = 24_000


@cache
@lasting
def recorded() -> dict[str, Tensor]:
    return load_file(FOLDER / "recorded.safetensors")


@cache
def cases() -> dict[str, dict[str, Any]]:
    """The recorded loops: threshold, temperature and how each ended."""
    found: dict[str, dict[str, Any]] = json.loads((FOLDER / "cases.json").read_text())
    return found


@cache
def config(model: str) -> PocketConfig:
    return PocketConfig.parse(yaml.safe_load((FOLDER / model / "config.yaml").read_text()))


@cache
@lasting
def weights(model: str) -> dict[str, Tensor]:
    return load_file(FOLDER / model / "model.safetensors")


@cache
@lasting
def flow_lm(model: str) -> FlowLm:
    return load_flow_lm(config(model), weights(model))


@cache
@lasting
def flow_head(model: str) -> FlowHead:
    return load_flow_head(config(model), weights(model))


@cache
@lasting
def codec_decoder(model: str) -> CodecDecoder:
    return load_codec_decoder(config(model).codec, weights(model))


@cache
@lasting
def codec_encoder(model: str) -> CodecEncoder:
    return load_codec_encoder(config(model).codec, weights(model))


@cache
def voice_samples() -> Pcm:
    """The recorded voice at the codec's rate."""
    with wave.open(str(FOLDER / "voice.wav")) as file:
        assert file.getframerate() == RATE
        return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32_768


@cache
@lasting
def voice_prompt() -> Tensor:
    """The recorded voice as the encoder takes it."""
    return torch.from_numpy(ending_on_pause(voice_samples(), RATE))
