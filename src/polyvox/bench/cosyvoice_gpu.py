"""How soon and how fast CosyVoice speaks at full size: `python -m polyvox.bench.cosyvoice_gpu --version 3`.

The weights are random: arithmetic takes the same time whatever it says. One stream runs through the engine's own path,
from ids of text to samples; only the length of its speech is set.
"""

import argparse
import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from polyvox.engines.cosyvoice.casting import Cast, Mode
from polyvox.engines.cosyvoice.decoder import CosyVoiceDecoder
from polyvox.engines.cosyvoice.executing import shared_lm
from polyvox.engines.cosyvoice.hops import Hops
from polyvox.engines.cosyvoice.loading import Networks
from polyvox.engines.cosyvoice.piece import Hop, Piece, PieceMaker, Player, Timed, sampling_of, sounded
from polyvox.engines.cosyvoice.recipe import SAMPLE_RATE, Recipe
from polyvox.engines.cosyvoice.sound import Sound
from polyvox.models.cosyvoice2_flow import ConformerFront, Flow2Config
from polyvox.models.cosyvoice3_flow import Flow3Config, LookaheadFront
from polyvox.models.cosyvoice_flow import Flow
from polyvox.models.cosyvoice_lm import SpeechLm, SpeechLmConfig
from polyvox.models.dit import DiT, DiTTime
from polyvox.models.euler import cosine_schedule
from polyvox.models.hift import Hift, HiftConfig, HiftParts
from polyvox.models.hift_causal import CausalHift
from polyvox.models.hift_filter import HiftFilter
from polyvox.models.hift_source import Pitch, Source
from polyvox.models.sampling import SamplingConfig
from polyvox.models.speech_vocabulary import vocabulary_v2, vocabulary_v3
from polyvox.models.unet import UNet, UNetTime
from polyvox.runtime.chunking import ChunkPolicy
from polyvox.runtime.device import DeviceExecutor
from polyvox.runtime.executors.graphs import CudaGraphs
from polyvox.runtime.placing import Placement
from polyvox.runtime.speech_lm import LmSizes
from polyvox.runtime.speech_lm import SpeechLm as SharedLm
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import Limits
from polyvox.types import PreparedVoice

Module = TypeVar("Module", bound=nn.Module)

TOKENS_PER_SECOND = 25
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of the stream."""

    seconds: float = 30.0
    prompt_seconds: float = 5.0
    text_ids: int = 40
    policy: ChunkPolicy = field(default_factory=lambda: ChunkPolicy(25, 2.0, 100))


@dataclass(frozen=True, slots=True)
class ChunkTime:
    """One chunk: how much it holds, when it came, and what flow and vocoder took for it."""

    audio: float
    arrived: float
    device: float


@dataclass(frozen=True, slots=True)
class Figures:
    """One run of the stream."""

    chunks: tuple[ChunkTime, ...]

    @property
    def first_audio(self) -> float:
        return self.chunks[0].arrived

    @property
    def real_time_factor(self) -> float:
        return self.chunks[-1].arrived / sum(chunk.audio for chunk in self.chunks)


def released(version: int) -> Recipe:
    """The sizes of the published model."""
    return Recipe(
        version=version,
        lm=SpeechLmConfig(vocabulary_v2() if version == 2 else vocabulary_v3(), head_bias=version == 2),
        flow=Flow2Config() if version == 2 else Flow3Config(),
        hift=HiftConfig(),
        sampling=SamplingConfig(),
        highest_hertz=8000.0 if version == 2 else None,
    )


def random_networks(recipe: Recipe, placement: Placement) -> Networks:
    """Networks of these sizes with seeded weights."""
    torch.manual_seed(0)
    with torch.device(placement.device):
        lm = _frozen(SpeechLm(recipe.lm), placement.dtype)
        flow = _flow(recipe)
        parts = HiftParts(
            _frozen(Pitch(recipe.hift.source, causal=recipe.version == 3), torch.float64),
            _frozen(Source(recipe.hift.source, smooth=recipe.version == 2), torch.float32),
            _frozen(HiftFilter(recipe.hift.filter, causal=recipe.version == 3), torch.float32),
        )
    vocoder = Hift(recipe.hift, parts) if recipe.version == 2 else CausalHift(recipe.hift, parts)
    return Networks(lm, Sound(_frozen(flow, placement.dtype), vocoder, placement))


def _frozen(module: Module, dtype: torch.dtype) -> Module:
    """The module with weights that let signals through at about their strength; buffers stay as they are."""
    for name, parameter in module.requires_grad_(False).named_parameters():
        if parameter.dim() > 1:
            parameter.normal_(std=parameter[0].numel() ** -0.5)
        else:
            parameter.fill_(0.0 if name.endswith("bias") else 1.0)
        parameter.data = parameter.data.to(dtype)
    return module.eval()


def _flow(recipe: Recipe) -> Flow:
    config = recipe.flow
    times = cosine_schedule(config.flow.steps).times
    front: nn.Module
    estimator: nn.Module
    time_layers: nn.Module
    if isinstance(config, Flow2Config):
        front, estimator, time_layers = ConformerFront(config), UNet(config.estimator), UNetTime(config.estimator)
    else:
        dit = DiT(config.estimator)
        dit.rates.copy_(10_000.0 ** -torch.linspace(0, 1, len(dit.rates) + 1)[:-1])
        front, estimator, time_layers = LookaheadFront(config), dit, DiTTime(config.estimator)
    table = _frozen(time_layers, torch.float32)(times.to(next(time_layers.parameters()).device))
    return Flow(config.flow, front, estimator, table)


class _SetLength(PieceMaker):
    """Speaks for as long as it is told to, whatever the random weights would have."""

    def __init__(
        self, recipe: Recipe, decoder: CosyVoiceDecoder, source: SharedLm, stage: Stage[Hop, Timed], tokens: int
    ) -> None:
        super().__init__(recipe, decoder, source, stage)
        self._tokens = tokens

    def limits(self, text_ids: int) -> Limits:
        usual = super().limits(text_ids)
        return Limits(most=self._tokens, banned=usual.ends)


async def stream(networks: Networks, recipe: Recipe, load: Load) -> Figures:
    """Speak once, and note when each chunk came."""
    lm_device, device = DeviceExecutor("lm", 1), DeviceExecutor("sound", 1)
    decoder = CosyVoiceDecoder(networks.lm)
    recorder = CudaGraphs if networks.lm.marks.device.type == "cuda" else None
    source, _ = await shared_lm(decoder, LmSizes(slots=1, capacity=4096), sampling_of(recipe), lm_device, recorder)
    stage = Stage[Hop, Timed]("sound", lambda hops: sounded(networks.sound, hops), executor=device)
    voice = _voice(recipe, load)
    tokens = int(load.seconds * TOKENS_PER_SECOND)
    maker = _SetLength(recipe, decoder, source, stage, tokens)
    speech = tuple(voice.arrays["tokens"].tolist())
    role = Cast(Mode.ZERO_SHOT, tuple(range(100, 130)), speech, voice)
    began = time.perf_counter()
    base = asyncio.create_task(device.run(lambda: networks.sound.start(voice)))
    piece, ids = Piece(role, base, 0, 0), range(200, 200 + load.text_ids)
    hops = Hops(load.policy, len(speech), maker.block, maker.ahead)
    chunks = []
    async with aclosing(maker.speak(piece, ids, hops, Player(time.perf_counter))) as made:
        async for chunk in made:
            audio = len(chunk.pcm) / SAMPLE_RATE
            chunks.append(ChunkTime(audio, time.perf_counter() - began, chunk.seconds))
    await source.close()
    await stage.close()
    for executor in (lm_device, device):
        await asyncio.to_thread(executor.close)
    return Figures(tuple(chunks))


def _voice(recipe: Recipe, load: Load) -> PreparedVoice:
    draws = np.random.Generator(np.random.Philox(1))
    tokens = int(load.prompt_seconds * TOKENS_PER_SECOND)
    return PreparedVoice(
        f"cosyvoice{recipe.version}",
        "",
        {
            "tokens": draws.integers(0, recipe.speech_ids, tokens, np.int32),
            "mel": draws.standard_normal((recipe.flow.flow.bins, 2 * tokens), np.float32),
            "embedding": draws.standard_normal(recipe.flow.flow.speaker, np.float32),
        },
    )


@torch.inference_mode()
def deviation(recipe: Recipe, placement: Placement, load: Load) -> float:
    """How far the mel of two seconds is from that in single precision, as a share of its spread."""
    mels = []
    for dtype in (torch.float32, placement.dtype):
        sound = random_networks(recipe, replace(placement, dtype=dtype)).sound
        state = sound.start(_voice(recipe, load))
        tokens = torch.arange(50, device=placement.device)[None]
        mel, _ = sound.flow.step(tokens, state.flow, final=True)
        mels.append(mel.float())
    return ((mels[0] - mels[1]).square().mean().sqrt() / mels[0].std()).item()


def report(figures: Figures, title: str) -> str:
    """The figures as text."""
    lines = [
        f"{title}: first audio {figures.first_audio:.3f} s, real-time factor {figures.real_time_factor:.3f}",
        "chunk  audio s  arrived s  flow and vocoder s  per second of audio",
    ]
    for index, chunk in enumerate(figures.chunks):
        share = chunk.device / chunk.audio if chunk.audio else 0.0
        lines.append(f"{index:5d}  {chunk.audio:7.2f}  {chunk.arrived:9.3f}  {chunk.device:18.3f}  {share:19.3f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", type=int, choices=(2, 3), default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", choices=sorted(_DTYPES), default="bfloat16")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--prompt-seconds", type=float, default=5.0)
    parser.add_argument("--first-hop", type=int, default=25)
    given = parser.parse_args()
    recipe, placement = released(given.version), Placement(given.device, _DTYPES[given.precision])
    networks = random_networks(recipe, placement)
    usual = Load(given.seconds, given.prompt_seconds, policy=ChunkPolicy(given.first_hop, 2.0, 100))
    even = replace(usual, policy=ChunkPolicy(25, 1.0, 25))
    for title, load in (("cold", usual), ("warm", usual), ("chunks of one second", even), ("again", even)):
        print(report(asyncio.run(stream(networks, recipe, load)), f"CosyVoice {given.version}, {title}"), flush=True)
    if given.device == "cuda":
        print(f"memory: {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB at most")
    del networks
    print(f"{given.precision} against float32: mel differs by {deviation(recipe, placement, usual):.2%} of its spread")


if __name__ == "__main__":
    main()
