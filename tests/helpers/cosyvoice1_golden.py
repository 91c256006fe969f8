"""Our models of CosyVoice 1 with the tiny weights that the original was recorded on, and the draws it was given."""

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor

from helpers.cosyvoice_golden import SAMPLING, golden, lasting
from helpers.repetition_aware import nucleus
from polyvox.models.cosyvoice.conformer import ConformerEncoderConfig
from polyvox.models.cosyvoice.flow import FlowConfig, FlowPrompt
from polyvox.models.cosyvoice.flow_v1 import Flow1, Flow1Config, load_flow1
from polyvox.models.cosyvoice.lm import SpeechPrompt
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm, Lm1Config, load_lm1
from polyvox.models.cosyvoice.relative_decoder import RelativeDecoderConfig
from polyvox.models.cosyvoice.speech_vocabulary import vocabulary_v1
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import Hift, HiftConfig, load_hift
from polyvox.models.hift.source import SourceConfig

SPEECH_IDS = 300
HARMONICS = 9
FRAME = 256
TINY_LM = Lm1Config(
    text=400,
    speech=vocabulary_v1(SPEECH_IDS),
    encoder=ConformerEncoderConfig(inputs=32, width=48, heads=4, feed_forward=96, blocks=2),
    backbone=RelativeDecoderConfig(inputs=64, hidden=64, feed_forward=96, layers=3, heads=4, positions=512),
)
TINY_FLOW = Flow1Config(
    flow=FlowConfig(tokens=SPEECH_IDS, ahead=20, block=1),
    encoder=ConformerEncoderConfig(inputs=40, width=48, heads=4, feed_forward=96, blocks=2),
    estimator=UNetConfig(channels=24, heads=3, head_width=16, transformers=1, mid_blocks=2),
)
TINY_HIFT1 = HiftConfig(
    source=SourceConfig(channels=24, sample_rate=22_050, samples_per_frame=FRAME, per_sample=True),
    filter=FilterConfig(channels=32, rates=(8, 8), up_kernels=(16, 16), source_kernels=(7, 11)),
    overlap=20,
)
NONE = torch.zeros(1, 0, dtype=torch.long)


@cache
@lasting
def lm1() -> CosyVoice1Lm:
    return load_lm1(TINY_LM, golden(1, "weights_llm"))


@cache
@lasting
def flow1(dtype: torch.dtype = torch.float32) -> Flow1:
    return load_flow1(TINY_FLOW, golden(1, "weights_flow"), dtype)


@cache
@lasting
def hift1(dtype: torch.dtype = torch.float32) -> Hift:
    return load_hift(TINY_HIFT1, golden(1, "weights_hift"), dtype)


def lm1_prompt(mode: str, length: int | None = None) -> SpeechPrompt:
    """The recorded prompt as each mode passes it on, with so many ids of the text."""
    given = golden(1, "llm")
    text, transcript, speech, speaker = (
        given[f"in.{name}"] for name in ("text", "prompt_text", "prompt_token", "embedding")
    )
    text = text[:, :length]
    return {
        "zero_shot": SpeechPrompt(text, transcript, speech, speaker),
        "sft": SpeechPrompt(text, NONE, NONE, speaker),
        "instruct": SpeechPrompt(text, transcript, NONE),
    }[mode]


def flow1_prompt(part: str, prefix: str = "") -> FlowPrompt:
    given = golden(1, part)
    mel = given[f"{prefix}prompt_feat"].transpose(1, 2)
    return FlowPrompt(given[f"{prefix}prompt_token"], mel, given[f"{prefix}embedding"])


def recorded_noise(integers: Tensor) -> Tensor:
    """Noise that was stored in steps of 1/32."""
    return integers.float() / 32


def vocoder_noise(seed: int, frames: int) -> Tensor:
    """The noise [1, samples, harmonics] of one recorded call, by the recipe of the manifest."""
    drawn = np.random.RandomState(seed).standard_normal((1, HARMONICS, FRAME * frames))
    whole = np.clip(np.rint(32 * drawn), -127, 127).astype(np.int8)
    return recorded_noise(torch.from_numpy(whole)).transpose(1, 2)


def start_phase(recorded: Tensor) -> Tensor:
    """Recorded phases [1, harmonics, 1] in radians as cycles [1, 1, harmonics]; the fundamental begins at zero."""
    cycles = recorded.transpose(1, 2) / (2 * math.pi)
    return torch.cat((torch.zeros_like(cycles[..., :1]), cycles[..., 1:]), dim=-1)


class RecordedDraws:
    """The repetition-aware sampler on recorded variates: each draw is the argmax of probability over variate."""

    def __init__(self, mode: str) -> None:
        given = golden(1, "llm")
        self._nucleus = given[f"ras_{mode}.nucleus_exp"]
        self._fallback = iter(given[f"ras_{mode}.fallback_exp"])
        self.tokens: list[int] = []
        self.rejected: list[int] = []
        self.scores: list[Tensor] = []

    def __call__(self, scores: Tensor) -> int:
        candidates = nucleus(scores, SAMPLING)
        variates = self._nucleus[len(self.tokens)]
        kept = int((candidates.weights > 0).sum())
        assert kept == int((variates > 0).sum())
        token = int(candidates.ids[(candidates.weights[:kept] / variates[:kept]).argmax()])
        repeats = self.tokens[-SAMPLING.window :].count(token) >= SAMPLING.window * SAMPLING.tolerated_share
        self.rejected.append(token if repeats else -1)
        if repeats:
            others = scores.clone()
            others[token] = float("-inf")
            token = int((others.softmax(dim=-1) / next(self._fallback)).argmax())
        self.scores.append(scores)
        self.tokens.append(token)
        return token
