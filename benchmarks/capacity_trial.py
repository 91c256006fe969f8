"""The simulation's prediction beside a measured run: a real server of this machine under load, the same load simulated.

    python -m benchmarks.capacity_trial --model wren --loads 0.25 0.5 0.75 --seconds 40

The server is asked for each text alone first: the time to its first audio, the audio in each piece, and the CPU time of
all. Nothing else is given to the simulation, which then predicts first audio and gaps for arrivals at a share of what
the CPUs can do (`--loads`). The measured run and the simulated one have the same arrivals and texts.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.stream_simulation import Figures, Step, Stream, Workers, simulate
from polyvox.bench.dialect import LoadRequest, OpenAIDialect
from polyvox.bench.load import Load, LoadRun, Outcome, run_load
from polyvox.bench.process import ServerProcess, server_process
from polyvox.bench.texts import ENGLISH

_ROUNDS = 3
_VOICE = "af_heart"


@dataclass(frozen=True, slots=True)
class Alone:
    """A text spoken alone: seconds to its first audio, audio of each piece, and CPU seconds of the server."""

    first_audio: float
    pieces: tuple[float, ...]
    cpu: float

    @property
    def audio(self) -> float:
        return sum(self.pieces)

    def steps(self) -> tuple[Step, ...]:
        """The work before the first audio is the time that it took; what is left of the CPU time follows the audio."""
        first, *later = self.pieces
        left = max(0.0, self.cpu - self.first_audio) / max(sum(later), 1e-9)
        return (Step(min(self.first_audio, self.cpu), first), *(Step(left * piece, piece) for piece in later))


@dataclass(frozen=True, slots=True)
class Trial:
    """One load: what was predicted and what was measured."""

    load: float
    rate: float
    requests: int
    predicted: Figures
    measured: Figures
    refused: int
    cpu_per_audio: float
    """CPU seconds of the server for a second of audio; more than alone where streams slow each other down."""


async def spoken_alone(server: ServerProcess, model: str, texts: Sequence[str]) -> list[Alone]:
    """Each text by itself, some rounds; the first round does not count. CPU time is shared out by the audio."""
    firsts: list[list[float]] = [[] for _ in texts]
    pieces: list[tuple[float, ...]] = [() for _ in texts]
    cpu = 0.0
    async with OpenAIDialect().connect(server.url, None) as connection:
        for round_number in range(_ROUNDS + 1):
            before = server.cpu_seconds()
            for index, text in enumerate(texts):
                began, arrivals = time.perf_counter(), []
                async for seconds in connection.speak(LoadRequest(text, _VOICE, model)):
                    arrivals.append((time.perf_counter() - began, seconds))
                audible = [(at, seconds) for at, seconds in arrivals if seconds > 0]
                if round_number:
                    firsts[index].append(audible[0][0])
                    pieces[index] = tuple(seconds for _, seconds in audible)
            cpu += (server.cpu_seconds() - before) if round_number else 0.0
    per_second = cpu / _ROUNDS / sum(map(sum, pieces))
    return [
        Alone(statistics.median(first), audio, per_second * sum(audio))
        for first, audio in zip(firsts, pieces, strict=True)
    ]


def predicted(run: LoadRun, texts: Sequence[str], alone: Sequence[Alone], workers: int) -> Figures:
    """What the simulation says of the very requests of a run."""
    by_length = {len(text): each for text, each in zip(texts, alone, strict=True)}
    streams = [Stream(sample.due, by_length[sample.chars].steps()) for sample in run.samples]
    return Figures.of(simulate(streams, Workers(workers)))


def measured(run: LoadRun) -> Figures:
    """What the listeners of a run heard."""
    good = [sample for sample in run.samples if sample.outcome is Outcome.OK and sample.first_audio is not None]
    firsts = sorted(sample.first_audio or 0.0 for sample in good)
    quantiles = statistics.quantiles(firsts, n=20, method="inclusive")
    return Figures(quantiles[9], quantiles[18], sum(sample.underruns == 0 for sample in good) / len(good))


async def trial(
    server: ServerProcess, model: str, alone: Sequence[Alone], load: float, seconds: float, cores: int
) -> Trial:
    """Requests for some seconds at a share of what the cores can do."""
    rate = load * cores / statistics.mean(each.cpu for each in alone)
    requests = max(20, round(rate * seconds))
    before = server.cpu_seconds()
    run = await run_load(Load(ENGLISH, _VOICE, model, requests, rate=rate, seed=1), OpenAIDialect(), server.url)
    refused = sum(sample.outcome is not Outcome.OK for sample in run.samples)
    cost = (server.cpu_seconds() - before) / sum(sample.audio_seconds for sample in run.samples)
    return Trial(load, rate, requests, predicted(run, ENGLISH, alone, cores), measured(run), refused, cost)


async def trials(model: str, loads: Sequence[float], seconds: float, cores: int) -> tuple[list[Alone], list[Trial]]:
    """A server of its own, each text alone, then each load."""
    environment = {"POLYVOX_KOKORO_WORKERS": str(cores), "POLYVOX_KOKORO_THREADS": "1"}
    with server_process(["serve", "--port", "0", "--model", model], environment) as server:
        alone = await spoken_alone(server, model, ENGLISH)
        return alone, [await trial(server, model, alone, load, seconds, cores) for load in loads]


def table(found: Sequence[Trial]) -> str:
    """Prediction beside measurement, as a table of the documents."""
    rows = [
        "| load | requests | first audio, median: predicted, measured | for 19 of 20 | without a gap | refused | "
        "CPU s a second of audio |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in found:
        cells = [f"{each.load:.0%}".replace("%", " %"), f"{each.requests} at {each.rate:.2f} a second"]
        for name in ("first_audio", "first_audio_95"):
            here, there = getattr(each.predicted, name), getattr(each.measured, name)
            cells.append(f"{here * 1e3:.0f}, {there * 1e3:.0f} ms ({here / there - 1:+.0%})".replace("%", " %"))
        cells.append(f"{each.predicted.gapless:.0%}, {each.measured.gapless:.0%}".replace("%", " %"))
        rows.append("| " + " | ".join([*cells, str(each.refused), f"{each.cpu_per_audio:.3f}"]) + " |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="wren")
    parser.add_argument("--loads", type=float, nargs="+", default=[0.25, 0.5, 0.75])
    parser.add_argument("--seconds", type=float, default=40.0, help="How long requests arrive at each load.")
    parser.add_argument("--out", type=Path, help="Keep the figures as JSON.")
    args = parser.parse_args()
    alone, found = asyncio.run(trials(args.model, args.loads, args.seconds, os.cpu_count() or 1))
    audio, cpu = sum(each.audio for each in alone), sum(each.cpu for each in alone)
    print(f"alone: {cpu / audio:.3f} CPU seconds a second of audio, first audio", end=" ")
    first = statistics.median(each.first_audio for each in alone)
    print(f"{first * 1e3:.0f} ms at the median; texts of {audio / len(alone):.1f} s\n")
    print(table(found))
    if args.out:
        kept = {"alone": list(map(asdict, alone)), "trials": list(map(asdict, found))}
        args.out.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
