"""Time to first audio and throughput of ZipVoice at full size: `python -m benchmarks.zipvoice --device cuda`.

The weights are random: arithmetic takes the same time whatever it says. Each request takes the engine's own path from
tokens to samples, a short chunk first and longer ones after it; requests share the solver's batches.
"""

import argparse
import asyncio
import copy
import math
import statistics
import time
from dataclasses import dataclass

import numpy as np
import torch

from polyvox.engines.zipvoice.batch_solver import FEATURE_SCALE
from polyvox.engines.zipvoice.batch_synthesizer import BatchSynthesizer
from polyvox.engines.zipvoice.mel import BINS, FRAMES_PER_SECOND, SAMPLE_RATE
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.engines.zipvoice.synthesizer import ChunkRequest, ChunkSynthesizer, ZipVoiceSynthesizer
from polyvox.engines.zipvoice.tuning import ZipVoiceOptions
from polyvox.engines.zipvoice.variants import TARGET_RMS
from polyvox.engines.zipvoice.voice import ZipVoicePrompt
from polyvox.installation import load_settings
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput
from polyvox.models.zipvoice.model import ZipVoice, ZipVoiceConfig
from polyvox.models.zipvoice.vocos import Vocos, VocosConfig
from polyvox.models.zipvoice.zipformer import ZipformerConfig
from polyvox.runtime.executors.cuda_graphs import CudaGraphs
from polyvox.runtime.placement import PRECISIONS
from polyvox.text.tokenizers.vocabulary import TokenVocabulary

TOKENS = 360
CHUNK_SECONDS = (3.0, 6.0)
TOKENS_PER_SECOND = 15
TEXT = ZipformerConfig(192, BINS, 192, 512, 4, (4,), (9,), (1,))
DECODER = ZipformerConfig(3 * BINS, BINS, 512, 1536, 4, (2, 2, 4, 4, 4), (31, 15, 7, 15, 31), (1, 2, 4, 2, 1), time=192)


@dataclass(frozen=True, slots=True)
class ZipVoiceFigures:
    """Concurrent requests: seconds to first audio of each; seconds of audio, wall and CPU time of all."""

    requests: int
    first_audio: tuple[float, ...]
    audio_seconds: float
    wall_seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        return (
            f"{self.requests:3d} at once: first audio {statistics.median(self.first_audio):.3f} s (median), "
            f"{max(self.first_audio):.3f} s (last); {self.audio_seconds / self.wall_seconds:.2f} s of audio a second; "
            f"{self.cpu_seconds / self.audio_seconds:.2f} CPU seconds for one of audio"
        )


def released(*, distilled: bool) -> ZipVoiceConfig:
    """The sizes of the published model."""
    return ZipVoiceConfig(TOKENS, BINS, TEXT, DECODER, distilled=distilled)


def random_networks(
    device: torch.device, *, distilled: bool, sizes: ZipVoiceConfig | None = None, vocoder: VocosConfig | None = None
) -> ZipVoiceNetworks:
    """Networks with seeded weights, of the released sizes if no others are given."""
    torch.manual_seed(0)
    zipvoice = ZipVoice(sizes or released(distilled=distilled))
    vocos = Vocos(vocoder or VocosConfig())
    for module in (zipvoice, vocos):
        for parameter in module.requires_grad_(False).parameters():
            parameter.normal_(std=parameter[0].numel() ** -0.5 if parameter.dim() > 1 else 0.1)
    return ZipVoiceNetworks(zipvoice.eval().to(device), vocos.eval().to(device), TokenVocabulary({}), None)


async def figures(
    synthesis: ChunkSynthesizer, requests: int, manner: ZipVoiceOptions, prompt_seconds: float
) -> ZipVoiceFigures:
    """Start so many requests at once and speak all their chunks."""
    began, cpu = time.perf_counter(), time.process_time()

    async def request(seed: int) -> tuple[float, float]:
        voice, first, audio = cloned_voice(prompt_seconds), 0.0, 0.0
        for index, seconds in enumerate(CHUNK_SECONDS):
            tokens = tuple(range(1, 1 + round(seconds * TOKENS_PER_SECOND)))
            chunk = ChunkRequest(tokens, voice, 1.0, manner, seed * 1000 + index)
            spoken = await synthesis.synthesize(synthesis.prepare(chunk), due=began + audio)
            first = first or time.perf_counter() - began
            audio += len(spoken.pcm) / SAMPLE_RATE
        return first, audio

    answers = await asyncio.gather(*(request(seed) for seed in range(requests)))
    wall = time.perf_counter() - began
    total = sum(audio for _, audio in answers)
    return ZipVoiceFigures(requests, tuple(first for first, _ in answers), total, wall, time.process_time() - cpu)


def cloned_voice(seconds: float) -> ZipVoicePrompt:
    draws = np.random.Generator(np.random.Philox(1))
    mel = draws.standard_normal((round(seconds * FRAMES_PER_SECOND), BINS), np.float32)
    return ZipVoicePrompt(tuple(range(1, 1 + round(seconds * TOKENS_PER_SECOND))), mel, TARGET_RMS)


@dataclass(frozen=True, slots=True)
class Deviation:
    """RMS errors of a chunk in less than float32, as shares of the spread: of its mel, and of its samples."""

    mel: float
    samples: float

    def __str__(self) -> str:
        return f"mel differs by {self.mel:.2%} of its spread, samples by {20 * math.log10(self.samples):.1f} dB"


@torch.inference_mode()
def deviation(
    networks: ZipVoiceNetworks, dtype: torch.dtype, manner: ZipVoiceOptions, prompt_seconds: float
) -> Deviation:
    """One chunk of three seconds with the acoustic model in `dtype`, against the same in float32."""
    model = networks.acoustic_model
    assert isinstance(model, ZipVoice)
    voice, device = cloned_voice(prompt_seconds), model.embed.weight.device
    tokens = range(1, 1 + round(CHUNK_SECONDS[0] * TOKENS_PER_SECOND))
    given = ZipVoiceInput(tokens, voice.tokens, torch.from_numpy(voice.mel).to(device) * FEATURE_SCALE)
    noise = torch.randn(given.frames, BINS, generator=torch.Generator().manual_seed(0)).to(device)
    mels = []
    for network in (model, copy.deepcopy(model).to(dtype)):
        (state,) = network.start([given], [noise], [SolverOptions(manner.steps, manner.guidance, manner.shift)])
        while not state.done:
            (state,) = network.step([state])
        mels.append(state.generated)
    samples = [networks.vocos([mel / FEATURE_SCALE])[0] for mel in mels]
    return Deviation(*(((one - other).square().mean().sqrt() / one.std()).item() for one, other in (mels, samples)))


async def measure(
    device: torch.device,
    *,
    distilled: bool,
    steps: int,
    requests: list[int],
    prompt_seconds: float,
    precision: str = "float32",
) -> None:
    manner = ZipVoiceOptions(steps, 3.0 if distilled else 1.0, 0.5, False, 25.0, TARGET_RMS)
    networks = random_networks(device, distilled=distilled)
    print(f"{'distilled' if distilled else 'base'}, {steps} steps, {device}, {prompt_seconds:g} s of prompt")
    if precision != "float32":
        found = deviation(networks, PRECISIONS[precision], manner, prompt_seconds)
        print(f"{precision} against float32: {found}", flush=True)
        assert isinstance(networks.acoustic_model, ZipVoice)
        networks.acoustic_model.to(PRECISIONS[precision])
    synthesis: ChunkSynthesizer = ZipVoiceSynthesizer(networks, device, None)
    if device.type == "cuda":
        synthesis = await _captured(networks, device)
    for count in requests:
        # A GPU loads what a batch of a new shape needs when it first meets one; the second time counts.
        await figures(synthesis, count, manner, prompt_seconds)
        print(await figures(synthesis, count, manner, prompt_seconds), flush=True)
    await synthesis.close()


async def _captured(networks: ZipVoiceNetworks, device: torch.device) -> BatchSynthesizer:
    """As the engine runs on a GPU, with all shapes captured."""
    synthesis, began = BatchSynthesizer(networks, device, None, CudaGraphs), time.perf_counter()
    await synthesis.fuse()
    await synthesis.capture(int(load_settings().section(ZipVoiceSettings).graph_seconds * FRAMES_PER_SECOND))
    took, memory = time.perf_counter() - began, torch.cuda.max_memory_allocated() / 2**30
    print(synthesis.warning or f"captured in {took:.1f} s, {memory:.2f} GiB at most", flush=True)
    return synthesis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--base", action="store_true", help="The model that is guided from outside.")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--requests", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--prompt-seconds", type=float, default=3.0)
    parser.add_argument("--precision", choices=sorted(PRECISIONS), default="float32")
    parser.add_argument("--threads", type=int, default=0, help="Threads of PyTorch; 0 leaves them as they are.")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    asyncio.run(
        measure(
            torch.device(given.device),
            distilled=not given.base,
            steps=given.steps,
            requests=given.requests,
            prompt_seconds=given.prompt_seconds,
            precision=given.precision,
        )
    )


if __name__ == "__main__":
    main()
