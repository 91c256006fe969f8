"""Kokoro in PyTorch: how soon and how fast it speaks, and how far it is from what it should say.

    python -m polyvox.bench.kokoro_native --device cuda --streams 1 8 64 --seeded
    python -m polyvox.bench.kokoro_native --against-onnx --tolerance

Each stream takes the engine's own path from phonemes to trimmed chunks, a short chunk first and longer ones after it,
and shares its batches with the others. The weights are those of the installed model, of a file, or seeded and random:
arithmetic takes the same time whatever it says.
"""

import argparse
import asyncio
import copy
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.kokoro.ahead import told_in_order
from polyvox.engines.kokoro.batches import Batches
from polyvox.engines.kokoro.call import Call, ModelInput
from polyvox.engines.kokoro.native import CPU_BATCH, GPU_BATCH, NativeKokoro, Shapes, line_of
from polyvox.engines.kokoro.plan import Break, Chunk
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.models.kokoro import FRAME, Kokoro, KokoroConfig, load_kokoro
from polyvox.models.loading import load
from polyvox.runtime.executors.graphs import CudaGraphs
from polyvox.runtime.placing import CPU, PRECISIONS, Placement
from polyvox.text.spoken import SpokenWord
from polyvox.types import Span

Style = npt.NDArray[np.float32]

GRAPH_SECONDS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 14.0)
CHUNKS = (
    "ɡˌʊd mˈɔɹnɪŋ, ðə nˈɛkst tɹˈAn",
    "tə ðə hˈɑɹbəɹ lˈivz ət nˈIn fˈɔɹɾi tˈu, fɹʌm ðə fˈɑɹ plˈætfɔɹm.",
    "ʃi ˈOpᵊnd ðə lˈɛɾəɹ, ɹˈɛd ɪt twˈIs, fˈOldᵻd ɪt əɡˈɛn əlˈɔŋ ði ˈOld kɹˈis, ænd pˈʊt ɪt bˈæk wɪðˌWt ə wˈɜɹd.",
    "ðə lˈIthˌWs kˈipəɹ klˈImd ðə nˈɛɹO stˈɛɹz ˈɛvəɹi ˈivnɪŋ, kˈWntɪŋ stˈɛps æz hi wˈɛnt. fɹʌm ðə ɡˈæləɹi hi kʊd sˈi "
    "ðə fˈɪʃɪŋ bˈOts tˈɜɹn fɔɹ hˈOm, wˈʌn bI wˈʌn, ðɛɹ lˈæmps swˈɪŋɪŋ ɪn ðə dˈʌsk.",
)
"""What each stream says: chunks of the lengths that the engine would cut."""
SENTENCE = "ɡˌʊd mˈɔɹnɪŋ, jʊɹ tˈAbᵊl ɪz ɹˈɛdi."


@dataclass(frozen=True, slots=True)
class Figures:
    """What some streams at once met with: seconds to the first audio of each, and audio and time of all."""

    streams: int
    first_audio: tuple[float, ...]
    audio_seconds: float
    wall_seconds: float

    def __str__(self) -> str:
        first = [1000 * seconds for seconds in self.first_audio]
        return (
            f"{self.streams:3d} at once: first audio {statistics.median(first):.0f} ms (median), {max(first):.0f} ms "
            f"(last); real-time factor {self.wall_seconds / self.audio_seconds:.4f}; "
            f"{self.audio_seconds / self.wall_seconds:.1f} s of audio a second"
        )


@dataclass(frozen=True, slots=True)
class Distance:
    """How far samples are from what they should be: signal to noise, and between logarithmic spectra, in decibels."""

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
    """Random weights that let signals through, with durations and a pitch like those of speech."""
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in Kokoro(config).state_dict().items()}
    chance = torch.Generator().manual_seed(0)
    state = {name: _seeded(name, shape, chance) for name, shape in shapes.items()}
    state["predictor.duration_proj.bias"].fill_(-3.0)
    state["predictor.F0_proj.bias"].fill_(180.0)
    return load(lambda: Kokoro(config), state)


def _seeded(name: str, shape: torch.Size, chance: torch.Generator) -> Tensor:
    if len(shape) > 1 and "alpha" not in name:
        return torch.randn(shape, generator=chance) / math.sqrt(shape[1:].numel())
    if name.endswith(".fc.bias"):
        return torch.cat((torch.ones(shape[0] // 2), torch.zeros(shape[0] // 2)))
    return torch.zeros(shape) if name.endswith("bias") else torch.ones(shape)


def read_network(weights: Path) -> Kokoro:
    """The network of an installed `model.onnx`, or of the released file."""
    from polyvox.bundles.kokoro_weights import read_kokoro

    return load_kokoro(KokoroConfig(), read_kokoro(weights))


def read_style(weights: Path | None) -> Style:
    """The first voice beside the weights, one row for each length, or noise."""
    file = weights and weights.parent / "voices" / "af_heart.bin"
    if file and file.is_file():
        return np.fromfile(file, dtype="<f4").reshape(510, 1, 256)
    return 0.1 * np.random.Generator(np.random.Philox(1)).standard_normal((510, 1, 256), np.float32)


def on_device(network: Kokoro, place: Placement, batch: int) -> NativeKokoro:
    """The network as the engine holds it, everything recorded on a GPU."""
    network.cast(torch.float64, place.dtype)
    lengths = tuple(round(seconds * SAMPLE_RATE / FRAME) for seconds in GRAPH_SECONDS)
    shapes = Shapes(CudaGraphs(), lengths) if place.device == "cuda" else None
    native = NativeKokoro(network.to(place.device), batch, shapes)
    native.warm()
    return native


def calls(style: Style, chunks: Sequence[str], stream: int) -> Iterator[Call]:
    """A stream's calls, each a little faster or slower than those of the others."""
    for phonemes in chunks:
        chunk = Chunk((SpokenWord("", phonemes, Span(0, 1), False),), Break.COMMA)
        yield Call(chunk, ModelInput(tuple(chunk.ids), style[len(chunk.ids) - 1], 1.0 + stream % 7 / 50))


async def measured(native: NativeKokoro, style: Style, streams: int, chunks: Sequence[str] = CHUNKS) -> Figures:
    """Let so many streams start at once and speak all their chunks."""
    synthesis = Batches(native, None)
    began = time.perf_counter()

    async def stream(number: int) -> tuple[float, float]:
        plan = calls(style, chunks, number)

        async def read() -> Call | None:
            return next(plan, None)

        first, samples = 0.0, 0
        async for told in told_in_order(read, synthesis):
            first = first or time.perf_counter() - began
            samples += len(told.spoken.rendered.pcm)
        return first, samples / SAMPLE_RATE

    answers = await asyncio.gather(*map(stream, range(streams)))
    wall = time.perf_counter() - began
    await synthesis.close()
    return Figures(streams, tuple(first for first, _ in answers), sum(audio for _, audio in answers), wall)


@torch.inference_mode()
def tolerance(network: Kokoro, style: Style, device: str) -> dict[str, Distance]:
    """One sentence in each precision on a device, against single precision on the CPU, with the same noise."""
    (call,) = calls(style, [SENTENCE], 0)
    noise: list[Tensor] = []

    def said(place: Placement) -> Tensor:
        twin = copy.deepcopy(network)
        twin.cast(torch.float64, place.dtype)
        plan = twin.to(place.device).plan([line_of(call.input)])
        if not noise:
            noise.append(torch.randn(plan[0].noise_shape, generator=torch.Generator().manual_seed(0)))
        return twin.sound(plan, noise)[0].float().cpu()

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
            native.sound(native.plan([item]))
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
        "--precision", choices=sorted(PRECISIONS), help="float16 on a GPU, float32 on the CPU, if not given"
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
    from polyvox.bundles.validate import open_bundle
    from polyvox.config import load as load_settings

    return open_bundle("kokoro", load_settings().models_dir).file("model.onnx")


def main() -> None:
    given = _arguments()
    if given.threads:
        torch.set_num_threads(given.threads)
    weights = None if given.seeded else given.weights or _installed()
    style = read_style(weights)

    def network() -> Kokoro:
        return seeded_network(KokoroConfig()) if weights is None else read_network(weights)

    gpu = given.device == "cuda"
    place = Placement(given.device, PRECISIONS[given.precision or ("float16" if gpu else "float32")])
    if given.against_onnx and weights is not None and weights.suffix == ".onnx":
        ratios = against_onnx(on_device(network(), CPU, 1), weights, style, given.against_onnx)
        print(f"CPU time, native / ONNX Runtime: {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")
    if given.tolerance:
        for name, distance in tolerance(network(), style, given.device).items():
            print(f"{name} on {given.device}: {distance}")
    if given.streams:
        native = on_device(network(), place, given.batch or (GPU_BATCH if gpu else CPU_BATCH))
        print(native.runs_on, "seeded weights" if weights is None else weights.name, sep=", ")
    for streams in given.streams:
        # A GPU loads what a batch of a new shape needs when it first meets one; the second time counts.
        asyncio.run(measured(native, style, streams))
        print(asyncio.run(measured(native, style, streams)), flush=True)
    if gpu:
        print(f"memory: {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB at most")


if __name__ == "__main__":
    main()
