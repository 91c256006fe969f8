"""Kokoro in PyTorch: time to first audio, throughput, and deviation from the reference.

    python -m benchmarks.kokoro_native --device cuda --streams 1 8 64 --precision float16 float32 --unrecorded
    python -m benchmarks.kokoro_native --against-onnx --tolerance --streams

Each stream takes the engine's own path from its text to trimmed chunks, a short chunk first and longer ones after it,
and shares its batches with the others. The weights are those of the installed model, of a file, or seeded and random:
arithmetic takes the same time whatever it says.
"""

import argparse
import asyncio
import copy
import math
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.native.batched_synthesis import BatchedSynthesis
from polyvox.engines.kokoro.native.fused_kernels import fuse_kernels
from polyvox.engines.kokoro.native.loading import captured, graph_frames
from polyvox.engines.kokoro.native.network import CPU_BATCH, GPU_BATCH, GraphShapes, NativeKokoro, styled_tokens
from polyvox.engines.kokoro.request import ModelInput, SynthesisRequest
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.installation import load_settings
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, load_kokoro
from polyvox.models.loading import load
from polyvox.runtime.device_executor import HANDOVER_SECONDS
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, eagerly
from polyvox.runtime.placement import CPU, PRECISIONS, Placement
from polyvox.text.spoken import SpokenWord
from polyvox.types import Span, Utterance

Style = npt.NDArray[np.float32]

VOICE = "af_heart"
SENTENCES = (
    "The last tram leaves at a quarter to twelve.",
    "Put the small chairs by the window, and the long table where everyone can see it.",
    "Nobody had counted on rain, so the band played under the bridge.",
    "My aunt keeps bees, three goats and a very old donkey.",
    "Is the museum open on Mondays, or only from Tuesday to Sunday?",
    "He mended the gate with a piece of rope and a bent nail.",
    "When the lights came on, half of the audience had already gone home.",
    "A letter from the north took nine days to reach us that winter.",
)
STREAM_SENTENCES = 6
"""Of these in each stream's text: some 20 seconds of speech."""
LEAST_STREAMS = 4
"""Fewer streams at once are measured several times over, until there are so many measurements."""
CHUNKS = (
    "ɡˌʊd mˈɔɹnɪŋ, ðə nˈɛkst tɹˈAn",
    "tə ðə hˈɑɹbəɹ lˈivz ət nˈIn fˈɔɹɾi tˈu, fɹʌm ðə fˈɑɹ plˈætfɔɹm.",
    "ʃi ˈOpᵊnd ðə lˈɛɾəɹ, ɹˈɛd ɪt twˈIs, fˈOldᵻd ɪt əɡˈɛn əlˈɔŋ ði ˈOld kɹˈis, ænd pˈʊt ɪt bˈæk wɪðˌWt ə wˈɜɹd.",
    "ðə lˈIthˌWs kˈipəɹ klˈImd ðə nˈɛɹO stˈɛɹz ˈɛvəɹi ˈivnɪŋ, kˈWntɪŋ stˈɛps æz hi wˈɛnt. fɹʌm ðə ɡˈæləɹi hi kʊd sˈi "
    "ðə fˈɪʃɪŋ bˈOts tˈɜɹn fɔɹ hˈOm, wˈʌn bI wˈʌn, ðɛɹ lˈæmps swˈɪŋɪŋ ɪn ðə dˈʌsk.",
)
"""Phonemes of the lengths that the engine would cut, for what needs no text."""
SENTENCE = "ɡˌʊd mˈɔɹnɪŋ, jʊɹ tˈAbᵊl ɪz ɹˈɛdi."


@dataclass(frozen=True, slots=True)
class KokoroFigures:
    """Concurrent streams: seconds to first audio of each; seconds of audio, wall time and device time of all."""

    streams: int
    first_audio: tuple[float, ...]
    audio_seconds: float
    wall_seconds: float
    device_seconds: float

    def __add__(self, other: "KokoroFigures") -> "KokoroFigures":
        """Both measurements as one."""
        return KokoroFigures(
            self.streams,
            self.first_audio + other.first_audio,
            self.audio_seconds + other.audio_seconds,
            self.wall_seconds + other.wall_seconds,
            self.device_seconds + other.device_seconds,
        )

    def __str__(self) -> str:
        first = [1000 * seconds for seconds in self.first_audio]
        return (
            f"{self.streams:3d} at once: first audio {statistics.median(first):.0f} ms (median), {max(first):.0f} ms "
            f"(last); real-time factor {self.wall_seconds / self.audio_seconds:.5f}; "
            f"{self.audio_seconds / self.wall_seconds:.1f} s of audio a second; "
            f"device busy {self.device_seconds / self.wall_seconds:.0%}"
        )


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance of samples from a reference, in decibels: signal-to-noise ratio and log-spectral distance."""

    snr: float
    spectral: float

    @classmethod
    def between(cls, ours: Tensor, theirs: Tensor) -> "Distance":
        """Spectra of 1,024 samples, a quarter apart; what lies below -40 dB counts as silence."""
        window = torch.hann_window(1024)
        levels = [
            10 * torch.log10(torch.stft(each, 1024, 256, window=window, return_complex=True).abs().square() + 1e-4)
            for each in (ours, theirs)
        ]
        noise = (ours - theirs).square().sum()
        return cls(
            (10 * torch.log10(theirs.square().sum() / noise)).item(),
            (levels[0] - levels[1]).square().mean(dim=0).sqrt().mean().item(),
        )

    def __str__(self) -> str:
        return f"SNR {self.snr:.1f} dB, log-spectral distance {self.spectral:.2f} dB"


def seeded_network(config: KokoroConfig) -> Kokoro:
    """Seeded random weights that keep signals at unit scale, with durations and a pitch like those of speech."""
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in Kokoro(config).state_dict().items()}
    chance = torch.Generator().manual_seed(0)
    state = {name: _seeded(name, shape, chance) for name, shape in shapes.items()}
    state["predictor.duration_proj.bias"].fill_(-3.0)
    state["predictor.F0_proj.bias"].fill_(180.0)
    # As loud as speech: what is louder costs the host more, for it has to be limited.
    state["decoder.generator.conv_post.bias"][: config.decoder.generator.fft // 2 + 1] = -7.0
    return load(lambda: Kokoro(config), state)


def _seeded(name: str, shape: torch.Size, chance: torch.Generator) -> Tensor:
    if len(shape) > 1 and "alpha" not in name:
        return torch.randn(shape, generator=chance) / math.sqrt(shape[1:].numel())
    if name.endswith(".fc.bias"):
        return torch.cat((torch.ones(shape[0] // 2), torch.zeros(shape[0] // 2)))
    return torch.zeros(shape) if name.endswith("bias") else torch.ones(shape)


def read_style(weights: Path | None) -> Style:
    """The voice beside the weights, one row for each length, or noise."""
    file = weights and weights.parent / "voices" / f"{VOICE}.bin"
    if file and file.is_file():
        return np.fromfile(file, dtype="<f4").reshape(510, 1, 256)
    return 0.1 * np.random.Generator(np.random.Philox(1)).standard_normal((510, 1, 256), np.float32)


def on_device(network: Kokoro, place: Placement, batch: int) -> NativeKokoro:
    """The network as the engine holds it, nothing recorded yet."""
    network.cast(torch.float64, place.dtype)
    network.to(place.device)
    if place.device == "cuda":
        fuse_kernels(network)
    return NativeKokoro(network, batch)


def calls(style: Style, chunks: Sequence[str], stream: int) -> Iterator[SynthesisRequest]:
    """A stream's calls, each a little faster or slower than those of the others."""
    for phonemes in chunks:
        chunk = PhonemeChunk((SpokenWord("", phonemes, Span(0, 1), False),), Break.COMMA)
        yield SynthesisRequest(chunk, ModelInput(tuple(chunk.ids), style[len(chunk.ids) - 1], 1.0 + stream % 7 / 50))


@asynccontextmanager
async def speaking(native: NativeKokoro, style: Style) -> AsyncIterator[KokoroEngine]:
    """An engine that speaks with this network, in this style alone, as loud as the network is."""
    engine = KokoroEngine(load_settings(kokoro_voice_levels="raw"))
    with TemporaryDirectory() as folder:
        style.astype("<f4").tofile(Path(folder) / f"{VOICE}.bin")
        voices = VoiceTable(Path(folder), [voice for voice in engine.voices if voice.id == VOICE])
        await engine.start_with(BatchedSynthesis(native, None), voices)
    try:
        yield engine
    finally:
        await engine.close()


def text_of(stream: int) -> str:
    """The text of a stream: the sentences of all streams, starting at another one."""
    return " ".join(SENTENCES[(stream + place) % len(SENTENCES)] for place in range(STREAM_SENTENCES))


async def measured(engine: KokoroEngine, texts: Sequence[str]) -> KokoroFigures:
    """Let so many streams start at once, each a little faster or slower than the others."""
    began = time.perf_counter()

    async def stream(number: int, text: str) -> tuple[float, float, float]:
        first, audio, device = 0.0, 0.0, 0.0
        async for chunk in engine.speak(Utterance(text, VOICE, speed=1.0 + number % 7 / 50)):
            first = first or time.perf_counter() - began
            audio += chunk.duration
            device += chunk.device_seconds
        return first, audio, device

    first, audio, device = zip(*await asyncio.gather(*map(stream, range(len(texts)), texts)), strict=True)
    return KokoroFigures(len(texts), first, sum(audio), time.perf_counter() - began, sum(device))


async def streamed(native: NativeKokoro, style: Style, counts: Sequence[int]) -> AsyncIterator[KokoroFigures]:
    """Figures for each number of streams, after one round that does not count.

    A GPU loads what a batch of a new shape needs when it first meets one.
    """
    async with speaking(native, style) as engine:
        for count in counts:
            texts = list(map(text_of, range(count)))
            await measured(engine, texts)
            figures = await measured(engine, texts)
            while len(figures.first_audio) < LEAST_STREAMS:
                figures += await measured(engine, texts)
            yield figures


async def batched_snr(native: NativeKokoro, style: Style, streams: int) -> float:
    """SNR in dB of the first of several concurrent streams against the same stream alone."""
    async with speaking(native, style) as engine:

        async def said(text: str) -> Tensor:
            chunks = [chunk.pcm async for chunk in engine.speak(Utterance(text, VOICE))]
            return torch.from_numpy(np.concatenate(chunks))

        together = await asyncio.gather(*(said(text_of(stream)) for stream in range(streams)))
        return Distance.between(together[0], await said(text_of(0))).snr


async def kept(native: NativeKokoro, style: Style, texts: Sequence[str]) -> list[npt.NDArray[np.int16]]:
    """The engine's 16-bit samples for each text."""
    async with speaking(native, style) as engine:
        said = [[chunk.pcm async for chunk in engine.speak(Utterance(text, VOICE))] for text in texts]
    return [(np.concatenate(chunks).clip(-1, 1) * 32767).round().astype(np.int16) for chunks in said]


@torch.inference_mode()
def tolerance(network: Kokoro, style: Style, device: str) -> dict[str, Distance]:
    """One sentence in each precision on a device, against single precision on the CPU, with the same noise."""
    (call,) = calls(style, [SENTENCE], 0)
    noise: list[Tensor] = []

    def said(place: Placement) -> Tensor:
        twin = copy.deepcopy(network)
        twin.cast(torch.float64, place.dtype)
        prosody = twin.to(place.device).predict_prosody([styled_tokens(call.input)])
        if not noise:
            noise.append(torch.randn(prosody[0].noise_shape, generator=torch.Generator().manual_seed(0)))
        return twin.decode(prosody, noise)[0].float().cpu()

    expected = said(CPU)
    return {
        name: Distance.between(said(Placement(device, dtype)), expected)
        for name, dtype in PRECISIONS.items()
        if Placement(device, dtype) != CPU
    }


def against_onnx(native: NativeKokoro, graph: Path, style: Style, rounds: int) -> list[float]:
    """CPU time of the native network over that of the graph for the same two chunks, by turns, after one to warm up."""
    from polyvox.engines.kokoro.model import KokoroModel

    model = KokoroModel(graph, torch.get_num_threads())
    items = [call.input for call in calls(style, CHUNKS[:2], 0)]
    ratios = []
    for _ in range(rounds + 1):
        began = time.process_time()
        for item in items:
            native.decode(native.predict_durations([item]))
        middle = time.process_time()
        for item in items:
            model.run(item)
        ratios.append((middle - began) / (time.process_time() - middle))
    return ratios[1:]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    weights = parser.add_mutually_exclusive_group()
    weights.add_argument(
        "--weights", type=Path, help="model.onnx or kokoro-v1_0.pth; the installed model's if not given"
    )
    weights.add_argument("--seeded", action="store_true", help="random weights of the released size")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--precision",
        choices=sorted(PRECISIONS),
        nargs="+",
        default=[],
        help="float16 on a GPU, float32 on the CPU, if not given",
    )
    parser.add_argument("--unrecorded", action="store_true", help="on a GPU, also launch each kernel by itself")
    parser.add_argument("--keep", type=Path, metavar="FILE.npz", help="also keep what it says, as PRECISION_NUMBER")
    parser.add_argument(
        "--texts", type=Path, help="what is kept, one text on each line; the streams' sentences if not given"
    )
    parser.add_argument("--streams", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--batch", type=int, default=0, help="chunks at once; 32 on a GPU, 1 on the CPU, if not given")
    parser.add_argument(
        "--threads", type=int, default=0, help="threads of PyTorch and ONNX Runtime; 0: PyTorch's choice"
    )
    parser.add_argument("--against-onnx", type=int, nargs="?", const=3, default=0, metavar="ROUNDS")
    parser.add_argument("--tolerance", action="store_true", help="how far 16 bits are from 32")
    return parser.parse_args()


def _installed() -> Path:
    return open_bundle("kokoro", load_settings().models_dir).file("model.onnx")


def _record(native: NativeKokoro, style: Style) -> NativeKokoro:
    """The same with everything recorded, and how long that took."""
    began = time.perf_counter()
    (probe,) = calls(style, [SENTENCE], 0)
    frames = graph_frames(load_settings().section(KokoroSettings).graph_seconds)
    made = captured(native, frames, probe.input, CudaGraphs)
    took, memory = time.perf_counter() - began, torch.cuda.max_memory_allocated() / 2**30
    print(f"{'recorded' if made is not native else 'not recorded'} in {took:.1f} s, {memory:.2f} GiB at most")
    return made


async def _report(native: NativeKokoro, style: Style, given: argparse.Namespace, name: str) -> None:
    print(f"{native.runs_on}, {name}", flush=True)
    async for figures in streamed(native, style, given.streams):
        print(figures, flush=True)
    most = max(given.streams, default=1)
    if most > 1:
        snr = await batched_snr(native, style, most)
        print(f"one of {most} is what it is alone with an SNR of {snr:.1f} dB", flush=True)


def _speak(
    network: Callable[[], Kokoro], place: Placement, style: Style, given: argparse.Namespace
) -> list[npt.NDArray[np.int16]]:
    """Print the figures of one precision, and give back what is to be kept."""
    gpu = place.device == "cuda"
    native = on_device(network(), place, given.batch or (GPU_BATCH if gpu else CPU_BATCH))
    if gpu and given.unrecorded:
        frames = graph_frames(load_settings().section(KokoroSettings).graph_seconds)
        boxed = NativeKokoro(native.network, native.batch, GraphShapes((eagerly,), eagerly, eagerly, frames))
        asyncio.run(_report(boxed, style, given, "launched kernel by kernel"))
    if gpu:
        native = _record(native, style)
    asyncio.run(_report(native, style, given, "recorded" if gpu else "as it comes"))
    if given.keep is None:
        return []
    texts = SENTENCES if given.texts is None else given.texts.read_text(encoding="utf-8").splitlines()
    return asyncio.run(kept(native, style, texts))


def main() -> None:
    given = _arguments()
    sys.setswitchinterval(HANDOVER_SECONDS)
    if given.threads:
        torch.set_num_threads(given.threads)
    weights = None if given.seeded else given.weights or _installed()
    style = read_style(weights)
    state = None if weights is None else read_kokoro(weights)

    def network() -> Kokoro:
        return seeded_network(KokoroConfig()) if state is None else load_kokoro(KokoroConfig(), state)

    if given.against_onnx and weights is not None and weights.suffix == ".onnx":
        ratios = against_onnx(on_device(network(), CPU, 1), weights, style, given.against_onnx)
        print(f"CPU time, native / ONNX Runtime: {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")
    if given.tolerance:
        for name, distance in tolerance(network(), style, given.device).items():
            print(f"{name} on {given.device}: {distance}")
    said: dict[str, Any] = {}
    for precision in given.precision or ["float16" if given.device == "cuda" else "float32"]:
        if given.streams or given.keep:
            rows = _speak(network, Placement(given.device, PRECISIONS[precision]), style, given)
            said |= {f"{precision}_{number:02d}": row for number, row in enumerate(rows)}
    if given.keep:
        np.savez_compressed(given.keep, **said)


if __name__ == "__main__":
    main()
