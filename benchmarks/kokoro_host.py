"""The host's share of Kokoro on a GPU: `python -m benchmarks.kokoro_host --streams 64`, which needs no GPU.

The engine of a GPU speaks through a network that only waits, as long as a GPU that speaks `--speed` seconds of audio a
second would take. What is left is what the server's own process does: texts, batches, trimming, chunks. It is one, so
its CPU time bounds what any GPU can speak.
"""

import argparse
import asyncio
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from uvicorn.loops.auto import auto_loop_factory

from benchmarks.kokoro_native import VOICE, read_style
from benchmarks.seeded_engines import LONG_TEXTS
from polyvox.bench.process import cpu_seconds_of
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.native.batched_synthesis import BatchedSynthesis
from polyvox.engines.kokoro.native.lanes import Lane, Lanes
from polyvox.engines.kokoro.native.loading import EXPRESS_LANES, LANES, graph_frames
from polyvox.engines.kokoro.native.network import GPU_BATCH, GraphShapes, LaunchedBatch, NativeKokoro, TimedInput
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.installation import load_settings
from polyvox.models.kokoro.model import FRAME, EncodedTokens
from polyvox.runtime.device_executor import HANDOVER_SECONDS
from polyvox.runtime.executors.cuda_graphs import eagerly
from polyvox.runtime.garbage import keep_loaded
from polyvox.server.heap import return_large_blocks
from polyvox.types import Pcm, Utterance

PADDING_FRAMES, PHONEME_FRAMES = 12, 3
"""Durations of the silence at both ends and of each phoneme, about those that the network predicts."""
LONGEST_FRAMES = 1_200


class WaitingNetwork(NativeKokoro):
    """In the network's place on a GPU: the durations of any text at once, and speech of that length at some speed."""

    def __init__(self, frames: Sequence[int], speed: float) -> None:
        """Load nothing; `frames` are the lengths for which graphs would be captured."""
        self._frame_seconds = FRAME / SAMPLE_RATE / speed
        self.device = torch.device("cuda")
        self.batch = GPU_BATCH
        self._shapes = GraphShapes((eagerly,) * LANES, eagerly, eagerly, tuple(frames))
        self._lanes, self._express_lanes = (
            Lanes([Lane(eagerly, None, torch.Generator())] * count) for count in (LANES, EXPRESS_LANES)
        )
        self._samples_of_all = torch.from_numpy(np.tile(_speech(LONGEST_FRAMES * FRAME), (GPU_BATCH, 1)))
        self._encoding, self._style = torch.zeros(1, 1), torch.zeros(256)

    def predict_durations(self, items: Sequence[ModelInput]) -> list[TimedInput]:
        return [self._timed(item) for item in items]

    def launch(self, timed: Sequence[TimedInput]) -> LaunchedBatch:
        longest = max(each.tokens.frames for each in timed)
        assert longest <= LONGEST_FRAMES, "the texts are longer than the speech that this was given"
        time.sleep(self._frame_seconds * sum(each.tokens.frames for each in timed))
        return LaunchedBatch(self._samples_of_all[: len(timed), : longest * FRAME], timed)

    def _timed(self, item: ModelInput) -> TimedInput:
        durations = np.full(len(item.ids) + 2, PHONEME_FRAMES)
        durations[[0, -1]] = PADDING_FRAMES
        return TimedInput(item, EncodedTokens(self._encoding, self._style, int(durations.sum())), durations)


def _speech(samples: int) -> Pcm:
    """Noise as loud as speech, in syllables."""
    syllables = np.clip(np.sin(2 * np.pi * 4 / SAMPLE_RATE * np.arange(samples)), 0, None)
    noise = np.random.default_rng(1).standard_normal(samples, np.float32)
    speech: Pcm = 0.1 * syllables.astype(np.float32) * noise.clip(-3, 3)
    return speech


@contextmanager
def waiting_engine(
    name: str, text_workers: int, speed: float
) -> Iterator[tuple[KokoroEngine, BatchedSynthesis, VoiceTable]]:
    """The engine and what to start it with."""
    settings = load_settings(kokoro_text_workers=text_workers)
    engine = KokoroEngine(settings, name)
    network = WaitingNetwork(graph_frames(settings.section(KokoroSettings).graph_seconds), speed)
    with TemporaryDirectory() as folder:
        read_style(None).astype("<f4").tofile(Path(folder) / f"{VOICE}.bin")
        table = VoiceTable(Path(folder), [voice for voice in engine.voices if voice.id == VOICE])
        yield engine, BatchedSynthesis(network, None), table


async def speak(engine: KokoroEngine, streams: int) -> tuple[float, list[float]]:
    """The seconds of speech of so many streams that begin at once, and the seconds until each was first heard."""
    began, firsts = time.perf_counter(), list[float]()

    async def one(index: int) -> float:
        heard = 0.0
        async for chunk in engine.speak(Utterance(LONG_TEXTS[index % len(LONG_TEXTS)], VOICE, seed=index)):
            if not heard:
                firsts.append(time.perf_counter() - began)
            heard += chunk.duration
        return heard

    return sum(await asyncio.gather(*map(one, range(streams)))), firsts


async def measure(name: str, text_workers: int, streams: int, rounds: int, speed: float) -> None:
    """Print a row."""
    with waiting_engine(name, text_workers, speed) as (engine, synthesis, voices):
        await engine.start_with(synthesis, voices)
        keep_loaded()
        return_large_blocks()
        try:
            await speak(engine, streams)
            began, own, others = time.perf_counter(), _own_seconds(), _others_seconds()
            spoken = [await speak(engine, streams) for _ in range(rounds)]
            wall, own, others = time.perf_counter() - began, _own_seconds() - own, _others_seconds() - others
        finally:
            await engine.close()
    audio = sum(seconds for seconds, _ in spoken)
    first = 1000 * float(np.median([each for _, firsts in spoken for each in firsts]))
    print(
        f"{text_workers:>7}  {1000 * own / audio:>12.3f}  {1000 * others / audio:>11.3f}  "
        f"{audio / wall:>9.0f}  {first:>14.0f}  {audio:>9.0f}",
        flush=True,
    )


def _own_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _others_seconds() -> float:
    """CPU time of the processes that this one started, and of theirs."""
    parents = {int(each.name): _parent(each) for each in Path("/proc").iterdir() if each.name.isdecimal()}
    family = {os.getpid()}
    while found := {process for process, parent in parents.items() if parent in family} - family:
        family |= found
    return sum(cpu_seconds_of(process) for process in family - {os.getpid()})


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except FileNotFoundError:  # it has ended
        return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("kokoro", "wren"), default="wren")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--text-workers", type=int, nargs="+", default=[1, 0])
    parser.add_argument("--speed", type=float, default=600.0, help="of the network, in seconds of audio a second")
    given = parser.parse_args()
    sys.setswitchinterval(HANDOVER_SECONDS)
    print("workers  own, ms/s     theirs, ms/s  audio-s/s  first, p50 ms  audio, s")
    for workers in given.text_workers:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # a server's own
            runner.run(measure(given.engine, workers, given.streams, given.rounds, given.speed))


if __name__ == "__main__":
    main()
