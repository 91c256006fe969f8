"""CPU cost of ZipVoice at full size: `python -m benchmarks.zipvoice_cpu`.

One request beside the order of operations of its authors' release, eight requests at once beside one, and the graphs
in 8-bit precision. The weights are seeded and the same for all; what is compared takes turns in one run, so ratios
mean the same on a slow machine as on a fast one. All of them end with the same vocoder.
"""

import argparse
import asyncio
import math
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import torch
from rich.console import Console

from benchmarks.zipvoice import (
    CHUNK_SECONDS,
    DECODER,
    TEXT,
    TOKENS,
    TOKENS_PER_SECOND,
    ZipVoiceFigures,
    cloned_voice,
    figures,
    random_networks,
)
from benchmarks.zipvoice_original import OriginalZipVoice, seeded_original
from polyvox.bench.engine import Check, as_table
from polyvox.engines.zipvoice.batch_solver import FEATURE_SCALE
from polyvox.engines.zipvoice.mel import BINS, SAMPLE_RATE
from polyvox.engines.zipvoice.networks import AcousticModel, ZipVoiceNetworks
from polyvox.engines.zipvoice.onnx_export.export import write_graphs
from polyvox.engines.zipvoice.onnx_networks import OnnxZipVoice
from polyvox.engines.zipvoice.synthesizer import ZipVoiceSynthesizer
from polyvox.engines.zipvoice.tuning import ZipVoiceOptions
from polyvox.engines.zipvoice.variants import TARGET_RMS
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput
from polyvox.models.zipvoice.model import ZipVoice, ZipVoiceConfig, load_zipvoice
from polyvox.models.zipvoice.vocos import Vocos

ORIGINAL_LIMIT = 0.8
CONCURRENT_LIMIT = 0.9
REAL_TIME = 1.0
CONCURRENT = 8
FEW_STEPS = 4
PROMPT_SECONDS = 3.0
_CPU = torch.device("cpu")


def manner_of(steps: int, *, distilled: bool) -> ZipVoiceOptions:
    return ZipVoiceOptions(steps, 3.0 if distilled else 1.0, 0.5, False, 25.0, TARGET_RMS)


def original_figures(model: OriginalZipVoice, vocos: Vocos, manner: ZipVoiceOptions) -> ZipVoiceFigures:
    """One request of the chunks that `figures` asks for, by the original's order of operations."""
    began, cpu, audio, first = time.perf_counter(), time.process_time(), 0, 0.0
    with torch.inference_mode():
        for seed, seconds in enumerate(CHUNK_SECONDS):
            line = line_of(seconds)
            noise = torch.randn(line.frames, BINS, generator=torch.Generator().manual_seed(seed))
            mel = model(line, noise, SolverOptions(manner.steps, manner.guidance, manner.shift))
            audio += len(vocos([mel / FEATURE_SCALE])[0])
            first = first or time.perf_counter() - began
    wall = time.perf_counter() - began
    return ZipVoiceFigures(1, (first,), audio / SAMPLE_RATE, wall, time.process_time() - cpu)


def line_of(seconds: float) -> ZipVoiceInput:
    voice = cloned_voice(PROMPT_SECONDS)
    tokens = range(1, 1 + round(seconds * TOKENS_PER_SECOND))
    return ZipVoiceInput(tokens, voice.tokens, torch.from_numpy(voice.mel) * FEATURE_SCALE)


def signal_to_noise(ours: AcousticModel, theirs: AcousticModel) -> float:
    """Signal-to-noise ratio in dB between the mels of a chunk."""

    def mel(acoustics: AcousticModel) -> torch.Tensor:
        line = line_of(CHUNK_SECONDS[0])
        noise = torch.randn(line.frames, BINS, generator=torch.Generator().manual_seed(1))
        flows = acoustics.start([line], [noise], [SolverOptions(FEW_STEPS, 3.0)])
        while not flows[0].done:
            flows = acoustics.step(flows)
        return flows[0].generated

    with torch.inference_mode():
        good = mel(theirs)
        return 10 * math.log10(good.square().sum() / (mel(ours) - good).square().sum())


class ZipVoiceBench:
    """One model of the family: the original, ours with its weights, and ours as graphs."""

    def __init__(self, *, distilled: bool, rounds: int, progress: Callable[[str], None]) -> None:
        config = ZipVoiceConfig(TOKENS, BINS, TEXT, DECODER, distilled=distilled)
        self._original = seeded_original(config)
        self.network: ZipVoice = load_zipvoice(config, self._original.state_dict())
        self._networks = replace(random_networks(_CPU, distilled=distilled), acoustic_model=self.network)
        self._distilled = distilled
        self._rounds = rounds
        self._progress = progress
        self._name = "distilled" if distilled else "base"

    async def beside_original(self, steps: int) -> list[Check]:
        """One request by ours, by the original's order, and by that order with one of its detours cut short."""
        manner = manner_of(steps, distilled=self._distilled)
        ours: list[float] = []
        original: list[float] = []
        straight: list[float] = []
        async with synthesis_of(self._networks) as synthesis:
            for turn in range(self._rounds):
                self._progress(f"{self._name}, {steps} steps, round {turn + 1} of {self._rounds}")
                ours.append(cost(await figures(synthesis, 1, manner, PROMPT_SECONDS)))
                for straighten, costs in ((False, original), (True, straight)):
                    self._original.straighten(straighten)
                    costs.append(cost(original_figures(self._original, self._networks.vocos, manner)))
        name = f"{self._name}, {steps} steps"
        return [
            Check.of(f"{name}: CPU", "s/s", ours),
            Check.of(f"{name}: original's order, CPU", "s/s", original),
            Check.of(f"{name}: ours / original's order", "", ratios(ours, original), ORIGINAL_LIMIT),
            Check.of(f"{name}: ours / original's, straightened", "", ratios(ours, straight)),
        ]

    async def concurrent(self) -> list[Check]:
        """Eight requests at once beside one, at few steps: each further step costs the same again.

        One request has all the threads to itself, which speak sooner than a single one but wait for each other. What it
        costs a single thread is shown beside it.
        """
        manner = manner_of(FEW_STEPS, distilled=self._distilled)
        alone, single, together = [], [], []
        async with synthesis_of(self._networks) as synthesis, synthesis_on_one_thread(self._networks) as narrow:
            for turn in range(self._rounds):
                self._progress(f"{self._name}, {CONCURRENT} at once, round {turn + 1} of {self._rounds}")
                alone.append(cost(await figures(synthesis, 1, manner, PROMPT_SECONDS)))
                single.append(cost(await figures(narrow, 1, manner, PROMPT_SECONDS)))
                together.append(cost(await figures(synthesis, CONCURRENT, manner, PROMPT_SECONDS)))
        name = f"{self._name}, {FEW_STEPS} steps"
        return [
            Check.of(f"{name}: {CONCURRENT} at once, CPU", "s/s", together),
            Check.of(f"{name}: one on one thread, CPU", "s/s", single),
            Check.of(f"{self._name}: {CONCURRENT} at once / one", "", ratios(together, alone), CONCURRENT_LIMIT),
            Check.of(f"{self._name}: {CONCURRENT} at once / one on one thread", "", ratios(together, single)),
        ]

    async def by_graphs(self, threads: int) -> list[Check]:
        """One request by the graphs in 8-bit precision, at few steps."""
        manner = manner_of(FEW_STEPS, distilled=self._distilled)
        name = f"{self._name}, {FEW_STEPS} steps, 8 bits"
        with tempfile.TemporaryDirectory() as folder:
            self._progress("writing graphs")
            write_graphs(self.network, Path(folder), int8=True)
            graphs = OnnxZipVoice(Path(folder), int8=True, threads=threads)
        measured = []
        async with synthesis_of(replace(self._networks, acoustic_model=graphs)) as synthesis:
            for turn in range(self._rounds):
                self._progress(f"{name}, round {turn + 1} of {self._rounds}")
                measured.append(await figures(synthesis, 1, manner, PROMPT_SECONDS))
        return [
            Check.of(f"{name}: time", "s/s", [each.wall_seconds / each.audio_seconds for each in measured], REAL_TIME),
            Check.of(f"{name}: CPU / {threads} threads", "s/s", [cost(each) / threads for each in measured], REAL_TIME),
            Check.of(f"{name}: signal to noise of the mel", "dB", [signal_to_noise(graphs, self.network)]),
        ]


@asynccontextmanager
async def synthesis_of(networks: ZipVoiceNetworks) -> AsyncIterator[ZipVoiceSynthesizer]:
    """The engine's own path, warm."""
    synthesis = ZipVoiceSynthesizer(networks, _CPU, None)
    await figures(synthesis, 1, manner_of(1, distilled=True), PROMPT_SECONDS)
    yield synthesis
    await synthesis.close()


@asynccontextmanager
async def synthesis_on_one_thread(networks: ZipVoiceNetworks) -> AsyncIterator[ZipVoiceSynthesizer]:
    """The same with one PyTorch thread: its executor starts while the thread count is 1."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    async with synthesis_of(networks) as synthesis:
        torch.set_num_threads(threads)
        yield synthesis


def cost(figures: ZipVoiceFigures) -> float:
    """CPU seconds for a second of audio."""
    return figures.cpu_seconds / figures.audio_seconds


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    """Round by round."""
    return [mine / other for mine, other in zip(ours, theirs, strict=True)]


async def measure(
    *, distilled: bool, steps: list[int], rounds: int, threads: int, progress: Callable[[str], None]
) -> list[Check]:
    bench = ZipVoiceBench(distilled=distilled, rounds=rounds, progress=progress)
    checks = [check for count in steps for check in await bench.beside_original(count)]
    checks += await bench.concurrent()
    # Guidance from outside doubles the work: real time at few steps is what the distilled model was made for.
    return checks + (await bench.by_graphs(threads) if distilled else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", action="store_true", help="The model that is guided from outside.")
    parser.add_argument("--steps", type=int, nargs="*", default=[4, 8, 16], help="Compared with the original's order.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    with Console(stderr=True).status("") as status:
        checks = asyncio.run(
            measure(
                distilled=not given.base,
                steps=given.steps,
                rounds=given.rounds,
                threads=given.threads,
                progress=status.update,
            )
        )
    Console().print(as_table(checks))
    sys.exit(0 if all(check.passed for check in checks) else 1)


if __name__ == "__main__":
    main()
