"""Time to first audio and real-time factor of CosyVoice at full size: `python -m benchmarks.cosyvoice_gpu --version 3`.

The weights are random: arithmetic takes the same time whatever it says. One stream runs through the engine's own path,
from ids of text to samples; only the length of its speech is set.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.random_weights import randomize
from polyvox.engines.cosyvoice.decoder.batching import batch_flow, batch_vocoder, captures, triton_kernels
from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop, FlowStageState, VocoderHop
from polyvox.engines.cosyvoice.decoder.hops import HopLengths, Hops, hop_lengths
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState, Hop, Token2WavResult
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav, Token2WavState
from polyvox.engines.cosyvoice.execution import start_lm
from polyvox.engines.cosyvoice.lm_adapter import CosyVoiceLmAdapter
from polyvox.engines.cosyvoice.lm_prompt import LmPrompt, PromptMode
from polyvox.engines.cosyvoice.model_config import SAMPLE_RATE, CosyVoiceConfig
from polyvox.engines.cosyvoice.synthesis import SegmentContext, SegmentSynthesizer, default_sampling
from polyvox.engines.kit.playhead import Playhead
from polyvox.models.cosyvoice.dit import DiT, DiTTime
from polyvox.models.cosyvoice.flow import Flow
from polyvox.models.cosyvoice.flow_v2 import ConformerTokenEncoder, Flow2Config
from polyvox.models.cosyvoice.flow_v3 import Flow3Config, LookaheadTokenEncoder
from polyvox.models.cosyvoice.lm import CosyVoiceLm, CosyVoiceLmConfig
from polyvox.models.cosyvoice.ode_solver import cosine_schedule
from polyvox.models.cosyvoice.sampling import SamplingConfig
from polyvox.models.cosyvoice.speech_vocabulary import vocabulary_v2, vocabulary_v3
from polyvox.models.cosyvoice.unet import UNet, UNetTime
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.filter import HiftFilter
from polyvox.models.hift.model import Hift, HiftConfig, HiftParts
from polyvox.models.hift.source import F0Predictor, HarmonicSource
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.placement import PRECISIONS, Placement
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import GenerationLimits
from polyvox.types import ChunkPolicy, PreparedVoice

TOKENS_PER_SECOND = 25
_CACHE_BYTES = 16 << 30


@dataclass(frozen=True, slots=True)
class StreamLoad:
    """The stream to measure."""

    seconds: float = 30.0
    prompt_seconds: float = 5.0
    text_ids: int = 40
    policy: ChunkPolicy = field(default_factory=lambda: ChunkPolicy(25, 2.0, 100))


@dataclass(frozen=True, slots=True)
class ChunkTime:
    """One chunk, in seconds: its audio, its arrival, and the time of flow and vocoder."""

    audio: float
    arrived: float
    device: float


@dataclass(frozen=True, slots=True)
class CosyVoiceFigures:
    """One run of the stream."""

    chunks: tuple[ChunkTime, ...]

    @property
    def first_audio(self) -> float:
        return self.chunks[0].arrived

    @property
    def real_time_factor(self) -> float:
        return self.chunks[-1].arrived / sum(chunk.audio for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class RandomNetworks:
    """Language model and audio decoder of version 2 or 3."""

    lm: CosyVoiceLm
    token2wav: Token2Wav


def released(version: int) -> CosyVoiceConfig:
    """The sizes of the published model."""
    return CosyVoiceConfig(
        version=version,
        lm=CosyVoiceLmConfig(vocabulary_v2() if version == 2 else vocabulary_v3(), head_bias=version == 2),
        flow=Flow2Config() if version == 2 else Flow3Config(),
        hift=HiftConfig(),
        sampling=SamplingConfig(),
        mel_fmax=8000.0 if version == 2 else None,
    )


def random_networks(recipe: CosyVoiceConfig, placement: Placement) -> RandomNetworks:
    """Networks of these sizes with seeded weights."""
    torch.manual_seed(0)
    assert isinstance(recipe.lm, CosyVoiceLmConfig)
    with torch.device(placement.device):
        lm = randomize(CosyVoiceLm(recipe.lm), placement.dtype)
    return RandomNetworks(lm, random_token2wav(recipe, placement))


def random_token2wav(recipe: CosyVoiceConfig, placement: Placement) -> Token2Wav:
    """The audio decoder alone."""
    with torch.device(placement.device):
        flow = _flow(recipe)
        parts = HiftParts(
            randomize(F0Predictor(recipe.hift.source, causal=recipe.version == 3), torch.float64),
            randomize(HarmonicSource(recipe.hift.source, interpolate=recipe.version == 2), torch.float32),
            randomize(HiftFilter(recipe.hift.filter, causal=recipe.version == 3), torch.float32),
        )
    vocoder = Hift(recipe.hift, parts) if recipe.version == 2 else CausalHift(recipe.hift, parts)
    return Token2Wav(randomize(flow, placement.dtype), vocoder, placement)


def _flow(recipe: CosyVoiceConfig) -> Flow:
    config = recipe.flow
    times = cosine_schedule(config.flow.steps).times
    front: nn.Module
    estimator: nn.Module
    time_layers: nn.Module
    if isinstance(config, Flow2Config):
        front, estimator, time_layers = (
            ConformerTokenEncoder(config),
            UNet(config.estimator),
            UNetTime(config.estimator),
        )
    else:
        assert isinstance(config, Flow3Config)
        dit = DiT(config.estimator)
        dit.rates.copy_(10_000.0 ** -torch.linspace(0, 1, len(dit.rates) + 1)[:-1])
        front, estimator, time_layers = LookaheadTokenEncoder(config), dit, DiTTime(config.estimator)
    table = randomize(time_layers, torch.float32)(times.to(next(time_layers.parameters()).device))
    return Flow(config.flow, front, estimator, table)


class _SetLength(SegmentSynthesizer):
    """Speaks for as long as it is told to, whatever the random weights would have."""

    def __init__(
        self,
        recipe: CosyVoiceConfig,
        decoder: CosyVoiceLmAdapter,
        source: LmScheduler,
        stage: Stage[Hop, Token2WavResult],
        tokens: int,
    ) -> None:
        super().__init__(recipe, decoder, source, stage)
        self._tokens = tokens

    def limits(self, text_ids: int) -> GenerationLimits:
        usual = super().limits(text_ids)
        return GenerationLimits(max_tokens=self._tokens, banned_tokens=usual.stop_tokens)


async def streams(
    networks: RandomNetworks,
    recipe: CosyVoiceConfig,
    loads: Sequence[StreamLoad],
    recorder: Callable[[], Replay] | None,
) -> AsyncGenerator[CosyVoiceFigures]:
    """Speak once for each load, and note when each chunk came; the `recorder` is for the language model's steps."""
    lm_device, device = DeviceExecutor("lm", 1), DeviceExecutor("sound", 1)
    decoder = CosyVoiceLmAdapter(networks.lm)
    source, _ = await start_lm(
        decoder, LmSchedulerConfig(slots=1, capacity=4096), default_sampling(recipe), lm_device, recorder
    )
    stage = Stage[Hop, Token2WavResult]("sound", networks.token2wav.step_batch, executor=device)
    for load in loads:
        maker = _SetLength(recipe, decoder, source, stage, int(load.seconds * TOKENS_PER_SECOND))
        yield await _stream(maker, networks.token2wav, seeded_voice(recipe, load), load, device)
    await source.close()
    await stage.close()
    for executor in (lm_device, device):
        await asyncio.to_thread(executor.close)


async def _stream(
    maker: SegmentSynthesizer, sound: Token2Wav, voice: PreparedVoice, load: StreamLoad, device: DeviceExecutor
) -> CosyVoiceFigures:
    speech = tuple(voice.arrays["tokens"].tolist())
    role = LmPrompt(PromptMode.ZERO_SHOT, tuple(range(100, 130)), speech, voice)
    began = time.perf_counter()
    base: asyncio.Task[DecoderState] = asyncio.create_task(device.run(lambda: _prompted(sound, voice)))
    piece, ids = SegmentContext(role, base, 0), range(200, 200 + load.text_ids)
    hops = Hops(load.policy, len(speech), maker.block, maker.ahead)
    chunks = []
    async with aclosing(maker.speak(piece, ids, hops, Playhead(time.perf_counter))) as made:
        async for chunk in made:
            audio = len(chunk.pcm) / SAMPLE_RATE
            chunks.append(ChunkTime(audio, time.perf_counter() - began, chunk.device_seconds))
    return CosyVoiceFigures(tuple(chunks))


def _prompted(sound: Token2Wav, voice: PreparedVoice) -> DecoderState:
    return sound.step((), sound.start(voice), final=False).state


def seeded_voice(recipe: CosyVoiceConfig, load: StreamLoad) -> PreparedVoice:
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
def deviation(recipe: CosyVoiceConfig, placement: Placement, load: StreamLoad) -> float:
    """How far the mel of two seconds is from that in single precision, as a share of its spread."""
    mels = []
    for dtype in (torch.float32, placement.dtype):
        sound = random_networks(recipe, replace(placement, dtype=dtype)).token2wav
        state = sound.start(seeded_voice(recipe, load))
        with sound.stream():
            (result,) = sound.flow_stage.step([FlowHop(range(50), _flow_state(state), final=True)])
            assert result.mel is not None
            mels.append(result.mel.float().cpu())
    return ((mels[0] - mels[1]).square().mean().sqrt() / mels[0].std()).item()


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far recorded results are from unrecorded ones.

    Of the mel, as shares of its largest value and of its spread, and of the samples that both vocoders make of one mel.
    """

    mel: float
    spread: float
    samples: float


@torch.inference_mode()
def agreement(networks: RandomNetworks, recipe: CosyVoiceConfig, load: StreamLoad) -> Agreement:
    """Over a stream as the load has it, chunk by chunk both ways."""
    sound, voice = networks.token2wav, seeded_voice(recipe, load)
    plain = Token2Wav(sound.flow, sound.vocoder, Placement(str(networks.lm.marks.device), networks.lm.marks.dtype))
    hops = Hops(load.policy, len(voice.arrays["tokens"]), recipe.flow.flow.block, recipe.flow.flow.ahead)
    tokens = range(int(load.seconds * TOKENS_PER_SECOND))
    ours, theirs = sound.start(voice), plain.start(voice)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    with sound.stream():
        mels, samples = zip(*_both_ways((sound, ours), (plain, theirs), tokens, hops), strict=True)
        mel, plain_mel = torch.cat(mels, dim=2)
        apart = mel - plain_mel
        spread = apart.square().mean().sqrt() / plain_mel.std()
        return Agreement((apart.abs().max() / plain_mel.abs().max()).item(), spread.item(), max(samples))


def _both_ways(
    one: tuple[Token2Wav, Token2WavState], other: tuple[Token2Wav, Token2WavState], tokens: Sequence[int], hops: Hops
) -> Iterator[tuple[Tensor, float]]:
    """For each chunk the mel frames of both, and how far their vocoders are apart on those of the other."""
    given, final = 0, False
    while not final:
        final = len(tokens) < hops.needed
        flows = [
            sound.flow_stage.step([FlowHop(tokens[given : hops.needed], _flow_state(state), final)])[0]
            for sound, state in (one, other)
        ]
        mels = [result.mel.float() for result in flows if result.mel is not None]
        vocoded = [
            sound.vocoder_stage.step([VocoderHop(mels[1], state.vocoder, final)])[0] for sound, state in (one, other)
        ]
        yield torch.stack(mels), (vocoded[0].samples - vocoded[1].samples).abs().max().item()
        one, other = (
            (sound, replace(state, flow=flow.state, vocoder=vocoder.state))
            for (sound, state), flow, vocoder in zip((one, other), flows, vocoded, strict=True)
        )
        given, hops = hops.needed, hops.after()


def _flow_state(state: Token2WavState) -> FlowStageState:
    assert state.flow is not None
    return state.flow


def report(figures: CosyVoiceFigures, title: str) -> str:
    """The figures as text."""
    lines = [
        f"{title}: first audio {figures.first_audio:.3f} s, real-time factor {figures.real_time_factor:.3f}",
        "chunk  audio s  arrived s  flow and vocoder s  per second of audio",
    ]
    for index, chunk in enumerate(figures.chunks):
        share = chunk.device / chunk.audio if chunk.audio else 0.0
        lines.append(f"{index:5d}  {chunk.audio:7.2f}  {chunk.arrived:9.3f}  {chunk.device:18.3f}  {share:19.3f}")
    return "\n".join(lines)


def record(networks: RandomNetworks, recipe: CosyVoiceConfig, loads: Iterable[StreamLoad]) -> str:
    """Record what the engine would record for such streams; what to say about it."""
    hops = [hop_lengths(load.policy, recipe.flow.flow.block) for load in loads]
    none = frozenset[int]()
    usual = HopLengths(none.union(*(each.first for each in hops)), none.union(*(each.later for each in hops)))
    began = time.perf_counter()
    sound = networks.token2wav
    with torch.inference_mode(), sound.stream():
        stages = (
            batch_flow(sound.flow, sound.flow_noise, _CACHE_BYTES, triton_kernels()),
            batch_vocoder(sound, 1, usual),
        )
        sound.use(flow_stage=stages[0], vocoder_stage=stages[1])
        for capture in captures(*stages, CudaGraphs()):
            capture.run()
    return f"flow and vocoder recorded in {time.perf_counter() - began:.1f} s"


async def _measured(
    networks: RandomNetworks,
    recipe: CosyVoiceConfig,
    loads: Sequence[tuple[str, StreamLoad]],
    recorder: Callable[[], Replay] | None,
) -> None:
    titles = iter(loads)
    async with aclosing(streams(networks, recipe, [load for _, load in loads], recorder)) as runs:
        async for figures in runs:
            print(report(figures, f"CosyVoice {recipe.version}, {next(titles)[0]}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", type=int, choices=(2, 3), default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", choices=sorted(PRECISIONS), default="bfloat16")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--prompt-seconds", type=float, default=5.0)
    parser.add_argument("--first-hop", type=int, default=25)
    parser.add_argument("--eager", action="store_true", help="record no graphs")
    given = parser.parse_args()
    recipe, placement = released(given.version), Placement(given.device, PRECISIONS[given.precision])
    networks = random_networks(recipe, placement)
    usual = StreamLoad(given.seconds, given.prompt_seconds, policy=ChunkPolicy(given.first_hop, 2.0, 100))
    even = replace(usual, policy=ChunkPolicy(25, 1.0, 25))
    recorder = CudaGraphs if given.device == "cuda" and not given.eager else None
    if recorder is not None:
        print(record(networks, recipe, (usual, even)), flush=True)
        agreed = agreement(networks, recipe, usual)
        print(
            f"recorded against eager: mel differs by {agreed.mel:.2e} of its largest value at most and by "
            f"{agreed.spread:.2%} of its spread; samples of the same mel differ by {agreed.samples:.2e} at most",
            flush=True,
        )
    loads = (("first", usual), ("again", usual), ("chunks of one second", even), ("the same again", even))
    asyncio.run(_measured(networks, recipe, loads, recorder))
    if given.device == "cuda":
        print(f"memory: {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB at most")
    del networks
    print(f"{given.precision} against float32: mel differs by {deviation(recipe, placement, usual):.2%} of its spread")


if __name__ == "__main__":
    main()
