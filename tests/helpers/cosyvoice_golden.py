"""The original's tensors on tiny weights, and our models with those weights."""

import json
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from helpers.repetition_aware import draw, nucleus
from polyvox.models.cosyvoice.bistream import Feed, InputKind
from polyvox.models.cosyvoice.conformer import ConformerConfig
from polyvox.models.cosyvoice.dit import DiTConfig
from polyvox.models.cosyvoice.flow import Flow, FlowConfig, FlowPrompt
from polyvox.models.cosyvoice.flow_v2 import Flow2Config, load_flow2
from polyvox.models.cosyvoice.flow_v3 import Flow3Config, load_flow3
from polyvox.models.cosyvoice.lm import CosyVoiceLm, CosyVoiceLmConfig, SpeechPrompt, load_lm
from polyvox.models.cosyvoice.noise import source_noise
from polyvox.models.cosyvoice.sampling import SamplingConfig
from polyvox.models.cosyvoice.speech_vocabulary import vocabulary_v2, vocabulary_v3
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.causal import CausalHift, load_causal_hift
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import Hift, HiftConfig, load_hift
from polyvox.models.hift.source import SourceConfig
from polyvox.models.qwen.model import QwenConfig

FOLDER = Path(__file__).parents[1] / "golden"
TOLERANCE = 1e-4
END_OF_PROMPT = 500
SPEECH_IDS = 300
SAMPLING = SamplingConfig()
lasting = torch.inference_mode(mode=False)
"""Cached tensors must be usable outside inference mode, whichever test asks for them first."""


@cache
@lasting
def golden(version: int, part: str) -> dict[str, Tensor]:
    return load_file(FOLDER / f"cosyvoice{version}" / f"{part}.safetensors")


@cache
def manifest(version: int) -> dict:
    return json.loads((FOLDER / f"cosyvoice{version}" / "manifest.json").read_text())


def assert_near(ours: Tensor, theirs: Tensor, tolerance: float = TOLERANCE) -> None:
    assert ours.shape == theirs.shape
    assert not ours.isnan().any()
    assert (ours - theirs).abs().max().item() <= tolerance


def thinned(tensor: Tensor, axis: int) -> Tensor:
    """As the recorded tensors of single stages were thinned."""
    length = tensor.shape[axis]
    return tensor.index_select(axis, torch.arange(0, length, max(1, length // 16)))


@cache
@lasting
def lm(version: int) -> CosyVoiceLm:
    config = CosyVoiceLmConfig(
        speech=vocabulary_v2(SPEECH_IDS) if version == 2 else vocabulary_v3(SPEECH_IDS),
        backbone=QwenConfig(vocabulary=800, hidden=64, feed_forward=160, layers=3, heads=4, key_heads=2, head_width=16),
        head_bias=version == 2,
    )
    return load_lm(config, golden(version, "weights_llm"))


def lm_prompt(version: int) -> SpeechPrompt:
    tensors = golden(version, "llm")
    return SpeechPrompt(tensors["in.text"], tensors["in.prompt_text"], tensors["in.prompt_token"])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class OriginalDraws:
    """The repetition-aware sampler on the random numbers that the original drew.

    It drew one uniform number for each candidate of the nucleus and, only when that token repeated, one for each id.
    """

    def __init__(self, seed: int) -> None:
        self.generator = seeded(seed)
        self.tokens: list[int] = []
        self.scores: list[Tensor] = []
        self.redrawn: list[bool] = []

    def __call__(self, scores: Tensor) -> int:
        candidates = int((nucleus(scores, SAMPLING).weights > 0).sum())
        first = torch.full((1, SAMPLING.top_k), 0.5, dtype=torch.float64)
        first[0, :candidates] = torch.rand(candidates, dtype=torch.float64, generator=self.generator)
        before = self.generator.get_state()
        second = torch.rand(1, len(scores), dtype=torch.float64, generator=self.generator)
        recent = torch.tensor([([-1] * SAMPLING.window + self.tokens)[-SAMPLING.window :]])
        choice = draw(scores[None], recent, first, second, SAMPLING)
        self.scores.append(scores)
        self.redrawn.append(bool(choice.redrawn.item()))
        if not self.redrawn[-1]:
            self.generator.set_state(before)
        self.tokens.append(int(choice.tokens))
        return self.tokens[-1]


TINY_UNET = UNetConfig(channels=48, heads=4, head_width=16, transformers=2, mid_blocks=2)
TINY_DIT = DiTConfig(width=64, depth=3, heads=4, head_width=16, feed_forward=128)


@cache
@lasting
def flow(version: int, steps: int = 10, dtype: torch.dtype = torch.float32) -> Flow:
    common, weights = FlowConfig(tokens=SPEECH_IDS, steps=steps), golden(version, "weights_flow")
    if version == 2:
        encoder = ConformerConfig(width=64, heads=4, feed_forward=128, blocks=2)
        return load_flow2(Flow2Config(common, encoder, TINY_UNET), weights, dtype)
    return load_flow3(Flow3Config(common, lookahead=96, estimator=TINY_DIT), weights, dtype)


def flow_prompt(version: int) -> FlowPrompt:
    tensors = golden(version, "flow")
    return FlowPrompt(tensors["in.prompt_token"], tensors["in.prompt_feat"].transpose(1, 2), tensors["in.embedding"])


TINY_HIFT = HiftConfig(SourceConfig(channels=32), FilterConfig(channels=64))


@cache
@lasting
def hift(dtype: torch.dtype = torch.float32) -> Hift:
    return load_hift(TINY_HIFT, golden(2, "weights_hift"), dtype)


@cache
@lasting
def causal_hift(dtype: torch.dtype = torch.float32) -> CausalHift:
    return load_causal_hift(TINY_HIFT, golden(3, "weights_hift"), dtype)


@cache
@lasting
def causal_hift_noise() -> Tensor:
    """Enough for 400 frames, with the sizes of the tiny weights."""
    return source_noise(400 * 480, tokens=SPEECH_IDS, channels=32)


def hift_noise(generator: torch.Generator, frames: int) -> Tensor:
    """The noise that the original draws for one call of version 2, between a phase and a second noise, both unused."""
    torch.rand(1, 9, generator=generator)
    noise = torch.empty(1, 9, 480 * frames).transpose(1, 2).normal_(generator=generator)
    torch.randn(1, 480 * frames, 1, generator=generator)
    return noise


def embed_feed(version: int, feed: Feed) -> Tensor:
    """Input embeddings [1, length, width] of interleaved text and speech."""
    start, task = lm(version).embed_marks(1)
    rows = {
        InputKind.START: lambda ids: start,
        InputKind.TASK: lambda ids: task,
        InputKind.TEXT: lm(version).embed_text,
        InputKind.SPEECH: lm(version).embed_speech,
    }
    return torch.cat([rows[segment.kind](torch.tensor([segment.ids], dtype=torch.long)) for segment in feed], dim=1)
