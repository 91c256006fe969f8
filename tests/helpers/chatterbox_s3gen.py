"""Our S3Gen with the tiny weights that Chatterbox's original was recorded on, and what it computed."""

import wave
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from helpers.cosyvoice_golden import lasting
from polyvox.models.chatterbox.s3gen import S3Gen, S3GenConfig, load_s3gen, meanflow
from polyvox.models.chatterbox.speech_tokenizer import SpeechTokenizerConfig
from polyvox.models.cosyvoice.conformer import ConformerConfig
from polyvox.models.cosyvoice.flow import FlowConfig, FlowPrompt
from polyvox.models.cosyvoice.flow_v2 import Flow2Config
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import HiftConfig
from polyvox.models.hift.source import SourceConfig
from polyvox.models.listeners.campplus import CampPlus, CampPlusConfig
from polyvox.types import Pcm

FOLDER = Path(__file__).parents[1] / "golden" / "chatterbox"
RATE = 24_000
CONFIG = S3GenConfig(
    SpeechTokenizerConfig(width=48, heads=3, layers=2),
    CampPlusConfig(head=4, width=8, inner=8, growth=4, context=4, blocks=((2, 1), (2, 2))),
    Flow2Config(
        FlowConfig(),
        ConformerConfig(width=24, heads=3, feed_forward=64, blocks=2, up_blocks=4),
        UNetConfig(channels=24, heads=3, head_width=8, transformers=2, mid_blocks=2),
    ),
    HiftConfig(SourceConfig(channels=24, per_sample=True), FilterConfig(channels=32)),
)
"""Sizes of the recorded networks; the speaker encoder, which has tests of its own, is smaller still."""


@cache
@lasting
def recorded() -> dict[str, Tensor]:
    return load_file(FOLDER / "s3gen" / "recorded.safetensors")


@cache
@lasting
def weights(*, turbo: bool = False) -> dict[str, Tensor]:
    """A published file: the recorded weights, and seeded ones for the rest of the embedding and the speaker encoder.

    The estimator is Turbo's; that of the others, which is CosyVoice 2's, has its tests there.
    """
    state = load_file(FOLDER / "s3gen" / "weights.safetensors")
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(CONFIG.flow.flow.tokens, CONFIG.flow.encoder.width, generator=generator)
    table[state.pop("embedding.ids").long()] = state.pop("embedding.rows")
    state["flow.input_embedding.weight"] = table
    state |= {f"speaker_encoder.{name}": each for name, each in _speaker_encoder(generator).items()}
    if not turbo:
        del state["flow.decoder.estimator.time_embed_mixer.weight"]
    return state


def _speaker_encoder(generator: torch.Generator) -> dict[str, Tensor]:
    """Weights of the speaker encoder whose batch norms are folded already."""
    return {
        name: torch.randn(each.shape, generator=generator) / max(1, each[0].numel()) ** 0.5
        for name, each in CampPlus(CONFIG.speaker_encoder).state_dict().items()
    }


@cache
def config(*, turbo: bool = False, steps: int = 2) -> S3GenConfig:
    flow = CONFIG.flow.flow
    return replace(
        CONFIG, flow=replace(CONFIG.flow, flow=meanflow(flow, steps) if turbo else replace(flow, steps=steps))
    )


@cache
@lasting
def s3gen(*, turbo: bool = False, steps: int = 2) -> S3Gen:
    return load_s3gen(config(turbo=turbo, steps=steps), weights(turbo=turbo))


@cache
def reference() -> Pcm:
    """The recording of the voice, at 24 kHz."""
    with wave.open(str(FOLDER / "reference.wav")) as file:
        assert file.getframerate() == RATE
        return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32_768


@cache
@lasting
def prompt() -> FlowPrompt:
    """The recorded voice as the flow takes it."""
    known = recorded()
    return FlowPrompt(
        known["voice.prompt_token"].long()[None], known["voice.prompt_feat"].T[None], known["voice.embedding"][None]
    )


def int8_noise(seed: int, shape: tuple[int, ...]) -> Tensor:
    """Noise by the recipe that the recordings were made with, in place of the original's generator."""
    drawn = np.rint(32 * np.random.RandomState(seed).standard_normal(shape)).clip(-127, 127)
    return torch.from_numpy((drawn / 32).astype(np.float32))


def phases(seed: int) -> Tensor:
    """The phases that the harmonics of a recording begin with, in cycles [1, 1, harmonics]."""
    drawn = np.random.RandomState(seed).uniform(-np.pi, np.pi, (1, 9, 1)).astype(np.float32)
    drawn[:, 0] = 0.0
    return torch.from_numpy(drawn / (2 * np.pi)).transpose(1, 2)
