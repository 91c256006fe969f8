"""Chatterbox's networks with seeded weights of the released sizes, for `benchmarks.streams_gpu`."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from benchmarks.random_weights import randomize
from polyvox.engines.chatterbox.bundle import ChatterboxNetworks, ModelSizes
from polyvox.engines.chatterbox.sampling import TOKEN_RATE
from polyvox.engines.chatterbox.speech_tokens import SPEECH_TOKENS
from polyvox.engines.chatterbox.variants import Variant
from polyvox.engines.chatterbox.voice import ChatterboxVoice
from polyvox.models.chatterbox.gpt2 import Gpt2Config
from polyvox.models.chatterbox.s3gen import S3Gen, S3GenConfig, meanflow
from polyvox.models.chatterbox.speech_tokenizer import SpeechTokenizer, SpeechTokenizerConfig
from polyvox.models.chatterbox.t3 import T3, T3Config, TurboConfig, TurboT3
from polyvox.models.chatterbox.voice_encoder import VoiceEncoder, VoiceEncoderConfig
from polyvox.models.cosyvoice.conformer import ConformerConfig
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowConfig
from polyvox.models.cosyvoice.flow_v2 import ConformerTokenEncoder, Flow2Config
from polyvox.models.cosyvoice.unet import MeanVelocityTime, UNet, UNetConfig, UNetTime
from polyvox.models.hift.filter import FilterConfig, HiftFilter
from polyvox.models.hift.model import Hift, HiftConfig, HiftParts
from polyvox.models.hift.source import F0Predictor, SampledHarmonicSource, SourceConfig
from polyvox.models.listeners.campplus import CampPlus
from polyvox.models.qwen.model import QwenConfig

_CHARS_PER_ID = {T3: 1, TurboT3: 4}
_BINS, _SPEAKER = 80, 192


def tiny(variant: Variant) -> ModelSizes:
    """Sizes that a CPU bears."""
    llama = QwenConfig(0, 32, 32, 1, 2, 2, 16, qkv_bias=False)
    gpt2 = TurboConfig(text=256, backbone=Gpt2Config(hidden=32, layers=1, heads=2, positions=4096))
    encoder = ConformerConfig(width=32, heads=2, feed_forward=32, blocks=1, up_blocks=1)
    unet = UNetConfig(channels=32, heads=2, head_width=16, transformers=1, mid_blocks=1)
    return ModelSizes(
        gpt2 if variant.turbo else T3Config(text=256, backbone=llama),
        VoiceEncoderConfig(hidden=16, layers=1),
        S3GenConfig(
            tokenizer=SpeechTokenizerConfig(width=32, heads=2, layers=1),
            flow=Flow2Config(FlowConfig(steps=2, block=5), encoder, unet),
            hift=HiftConfig(SourceConfig(channels=16, per_sample=True), FilterConfig(channels=32)),
        ),
    )


@torch.inference_mode()
def random_networks(sizes: ModelSizes, device: torch.device, dtype: torch.dtype) -> ChatterboxNetworks:
    """Networks of these sizes with seeded weights."""
    torch.manual_seed(0)
    turbo = isinstance(sizes.t3, TurboConfig)
    config = sizes.s3gen
    if turbo:
        config = replace(config, flow=replace(config.flow, flow=meanflow(config.flow.flow)))
    with device:
        t3 = T3(sizes.t3) if isinstance(sizes.t3, T3Config) else TurboT3(sizes.t3)
        parts = HiftParts(
            randomize(F0Predictor(config.hift.source, causal=False), torch.float64),
            randomize(SampledHarmonicSource(config.hift.source), torch.float32),
            randomize(HiftFilter(config.hift.filter, causal=False), torch.float32),
        )
        s3gen = S3Gen(
            randomize(SpeechTokenizer(config.tokenizer), torch.float32),
            randomize(CampPlus(config.speaker_encoder), torch.float32),
            randomize(_flow(config.flow), dtype),
            Hift(config.hift, parts),
        )
        encoder = randomize(VoiceEncoder(sizes.voice_encoder), torch.float32)
    return ChatterboxNetworks(randomize(t3, dtype), encoder, s3gen, None, device)


def _flow(config: Flow2Config) -> Flow:
    schedule = config.flow.schedule
    kind, steps = (MeanVelocityTime, schedule.spans) if config.flow.meanflow else (UNetTime, schedule.times)
    time = randomize(kind(config.estimator), torch.float32)
    table = time(steps.to(next(time.parameters()).device))
    return Flow(config.flow, ConformerTokenEncoder(config), UNet(config.estimator), table)


def seeded_voice(networks: ChatterboxNetworks, seconds: float) -> ChatterboxVoice:
    """The voice of a recording of this length."""
    chance, config = np.random.Generator(np.random.Philox(1)), networks.t3.config
    tokens = chance.integers(0, SPEECH_TOKENS, round(seconds * TOKEN_RATE)).astype(np.int32)
    return ChatterboxVoice(
        chance.random(config.speaker, np.float32),
        tokens[: config.prompt_tokens],
        tokens,
        chance.standard_normal((_BINS, FRAMES_PER_TOKEN * len(tokens)), np.float32),
        chance.standard_normal(_SPEAKER, np.float32),
    )


@dataclass(frozen=True, slots=True)
class CharacterEncoder:
    """Ids of texts without a tokenizer: one for so many characters as a real one has."""

    chars_per_id: int

    @classmethod
    def of(cls, networks: ChatterboxNetworks) -> "CharacterEncoder":
        return cls(_CHARS_PER_ID[type(networks.t3)])

    def encode(self, text: str, language: str | None = None) -> tuple[int, ...]:
        return tuple(1 + ord(char) % 200 for char in text[:: self.chars_per_id])
