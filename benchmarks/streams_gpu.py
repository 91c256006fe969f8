"""Many streams on one GPU: `python -m benchmarks.streams_gpu --engine cosyvoice3 --at-once 1 4 16 64`.

Seeded weights of the released sizes, for arithmetic takes the same time whatever it says. All streams start at once on
an engine that is warm; or, with `--rate`, requests arrive at a fixed rate. A simulated player listens to each stream:
it starts at the first audio, and whatever comes later than it plays is an under-run. `--http` measures the same through
a server in processes of its own: `--workers 4` gives it so many of doors. `--among 64` compares a stream alone with the
same among others; `--stages` shows what each stage of the engine did.
"""

import argparse
import asyncio
import itertools
import json
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from uvicorn.loops.auto import auto_loop_factory

from benchmarks.gpu_watch import GpuLog, watched_gpu
from benchmarks.likeness import Likeness, likeness
from benchmarks.published_figures import published_for
from benchmarks.seeded_engines import ENGINES, VOICE, Seeded, SeededEngine, Sizes, seeded_engine
from benchmarks.seeded_server import PROGRAM
from benchmarks.stage_log import HEADER as STAGE_HEADER
from benchmarks.stage_log import StageFigures, StageLog
from polyvox.bench.dialect import Dialect, LoadRequest, OpenAIDialect
from polyvox.bench.load import Load, LoadRun, run_load
from polyvox.bench.process import server_process
from polyvox.bench.report import LoadSummary, summarize
from polyvox.config import Settings
from polyvox.installation import load_settings
from polyvox.runtime.device_executor import HANDOVER_SECONDS
from polyvox.runtime.garbage import keep_loaded
from polyvox.runtime.placement import PRECISIONS
from polyvox.server.heap import return_large_blocks
from polyvox.service.telemetry.logs import configure_logging
from polyvox.types import Utterance

MODELS = {"zipvoice": "zipvoice_distill"}
"""The name of the model behind an engine's name, where they differ."""
TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Target:
    """What is put under load."""

    dialect: Dialect
    url: str
    seeded: Seeded
    startup_seconds: float
    warning: str = ""
    engine: SeededEngine | None = None
    """Where it is in this process."""
    stages: StageLog = field(default_factory=StageLog)
    """Of that engine."""

    def load(self, requests: int, at_once: int, rate: float | None = None, *, poisson: bool = False) -> Load:
        model = MODELS.get(self.seeded.engine, self.seeded.engine)
        return Load(self.seeded.texts, VOICE, model, requests, at_once, rate, TIMEOUT, poisson=poisson)


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """One row of the table: streams at once, or requests a second, and what became of them."""

    at_once: int | None
    rate: float | None
    summary: LoadSummary
    gpu: GpuLog
    stages: Sequence[StageFigures] = ()

    @property
    def gapless(self) -> float:
        """The share of streams that play without a gap; one that failed has a gap."""
        return (self.summary.ok - self.summary.starved_requests) / self.summary.requests

    def as_json(self) -> dict[str, object]:
        found: dict[str, object] = asdict(self.summary)
        found |= {"audio_per_second": self.summary.audio_per_second, "gapless": self.gapless}
        found |= {"gpu_peak_gib": self.gpu.peak_gib, "gpu_utilization": self.gpu.mean_utilization}
        found["stages"] = [asdict(stage) for stage in self.stages]
        return {"at_once": self.at_once, "rate": self.rate} | found

    def __str__(self) -> str:
        first, summary = self.summary.first_audio, self.summary
        name = f"{self.rate:g}/s" if self.at_once is None else str(self.at_once)
        p50, p95 = ("–", "–") if first is None else (f"{1000 * first.p50:.0f}", f"{1000 * first.p95:.0f}")
        peak = "–" if self.gpu.peak_gib is None else f"{self.gpu.peak_gib:.1f}"
        busy = "–" if self.gpu.mean_utilization is None else f"{self.gpu.mean_utilization:.0%}"
        return (
            f"{name:>7}  {p50:>7}  {p95:>7}  {summary.audio_per_second:>9.1f}  {summary.underruns:>10}  "
            f"{self.gapless:>7.1%}  {summary.ok:>4}/{summary.requests:<4}  {peak:>8}  {busy:>5}"
        )


HEADER = "at once  p50, ms  p95, ms  audio-s/s  under-runs  gapless  spoken     peak GiB  busy"


class _EngineConnection:
    """An engine in this process; each request has a seed of its own."""

    def __init__(self, engine: SeededEngine) -> None:
        self._engine = engine
        self._seeds = itertools.count()

    async def speak(self, request: LoadRequest) -> AsyncIterator[float]:
        async for chunk in self._engine.speak(Utterance(request.text, request.voice, seed=next(self._seeds))):
            yield chunk.duration


class EngineDialect:
    """Puts an engine of this process under load, without a door."""

    name = "engine"

    def __init__(self, engine: SeededEngine) -> None:
        self._engine = engine

    @asynccontextmanager
    async def connect(self, url: str, api_key: str | None) -> AsyncIterator[_EngineConnection]:
        yield _EngineConnection(self._engine)


async def streams_at_once(target: Target, count: int, *, least: int, warm_up: bool, in_turn: int = 1) -> StreamFigures:
    """So many streams, started at once, as often as gives `least` of them; the first time does not count.

    Each is followed by the next one as it ends, `in_turn` of them.
    """
    load = target.load(count * in_turn, count)
    if warm_up:
        await run_load(load, target.dialect, target.url)
    target.stages.clear()
    with watched_gpu() as gpu:
        runs = [await run_load(load, target.dialect, target.url) for _ in range(max(1, math.ceil(least / count)))]
    run = joined(runs)
    return StreamFigures(count, None, summarize(run), gpu, target.stages.figures(run.seconds))


async def streams_at_rate(
    target: Target, rate: float, seconds: float, *, poisson: bool, warm_up: bool
) -> StreamFigures:
    """Requests at a rate for so many seconds, however long the answers take."""
    requests = max(1, round(rate * seconds))
    if warm_up:
        few = min(requests, max(1, round(rate)))
        await run_load(target.load(few, 1, rate, poisson=poisson), target.dialect, target.url)
    target.stages.clear()
    with watched_gpu() as gpu:
        run = await run_load(target.load(requests, 1, rate, poisson=poisson), target.dialect, target.url)
    return StreamFigures(None, rate, summarize(run), gpu, target.stages.figures(run.seconds))


def joined(runs: Sequence[LoadRun]) -> LoadRun:
    """Several runs as one, one after the other."""
    return LoadRun(tuple(sample for run in runs for sample in run.samples), sum(run.seconds for run in runs))


@asynccontextmanager
async def engine_target(seeded: Seeded, settings: Settings) -> AsyncIterator[Target]:
    """The engine in this process, started."""
    engine, stages, began = seeded_engine(seeded, settings), StageLog(), time.perf_counter()
    engine.observe(stages)
    await engine.start()
    keep_loaded()  # as a server does, and so the next line
    return_large_blocks()
    try:
        yield Target(EngineDialect(engine), "", seeded, time.perf_counter() - began, engine.warning, engine, stages)
    finally:
        await engine.close()


@contextmanager
def http_target(seeded: Seeded, settings: dict[str, object], *, tiny: bool) -> Iterator[Target]:
    """A server in a process of its own, ready."""
    model = MODELS.get(seeded.engine, seeded.engine)
    fields = {name: value for name, value in asdict(replace(seeded, sizes=Sizes())).items() if name != "sizes"}
    arguments = json.dumps({"seeded": fields, "model": model, "settings": settings, "tiny": tiny})
    began = time.perf_counter()
    with server_process([arguments], module=PROGRAM, environment={"PYTHONPATH": os.pathsep.join(sys.path)}) as server:
        yield Target(OpenAIDialect(), server.url, seeded, time.perf_counter() - began)


async def measure(target: Target, given: argparse.Namespace, say: Callable[[str], None]) -> dict[str, object]:
    """All that was asked for, each row said and written as it comes."""
    say(f"{target.seeded.engine}: ready in {target.startup_seconds:.1f} s. {target.warning}".rstrip())
    if given.wait:
        await asyncio.to_thread(sys.stdin.readline)
    say(HEADER)
    found: list[StreamFigures] = []
    alike: Likeness | None = None
    async for row in _rows(target, given):
        found.append(row)
        say(str(row))
        if given.stages:
            say("\n".join([STAGE_HEADER, *map(str, row.stages)]))
        _write(as_json(target, found, alike, given), given.out)
    if given.among and target.engine is not None:
        alike = await likeness(target.engine, target.seeded.texts, given.among)
        say(str(alike))
    for reason, times in _errors(found):
        say(f"failed ({times}): {reason}")
    result = as_json(target, found, alike, given)
    _write(result, given.out)
    return result


async def _rows(target: Target, given: argparse.Namespace) -> AsyncIterator[StreamFigures]:
    for count in given.at_once:
        yield await streams_at_once(target, count, least=given.least, warm_up=not given.cold, in_turn=given.in_turn)
    for rate in given.rate:
        yield await streams_at_rate(target, rate, given.seconds, poisson=given.poisson, warm_up=not given.cold)


def _write(result: dict[str, object], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(result, indent=1) + "\n")


def _errors(found: Sequence[StreamFigures]) -> Iterator[tuple[str, int]]:
    for row in found:
        yield from row.summary.errors.items()


def report_published(engine: str) -> str:
    """What others say of such models; an asterisk marks figures derived from theirs."""
    lines = [str(figure) for figure in published_for(engine)]
    return "\n".join(["published elsewhere:", "at once  first audio  audio-s/s  system", *lines])


def as_json(
    target: Target, found: Sequence[StreamFigures], alike: Likeness | None, given: argparse.Namespace
) -> dict[str, object]:
    """Everything measured, and what it is to be compared with."""
    gpu = torch.cuda.is_available()
    return {
        "engine": target.seeded.engine,
        "card": torch.cuda.get_device_name() if gpu else "CPU",
        "torch": torch.__version__,
        "http": given.http,
        "workers": given.workers,
        "in_turn": given.in_turn,
        "utterance_seconds": target.seeded.seconds,
        "prompt_seconds": target.seeded.prompt_seconds,
        "precision": target.seeded.precision,
        "startup_seconds": target.startup_seconds,
        "warning": target.warning,
        "torch_peak_gib": torch.cuda.max_memory_allocated() / 2**30 if gpu and not given.http else None,
        "rows": [row.as_json() for row in found],
        "likeness": None if alike is None else asdict(alike),
        "published": [asdict(figure) for figure in published_for(target.seeded.engine)],
    }


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=ENGINES, required=True)
    parser.add_argument("--at-once", type=int, nargs="*", default=[1, 4, 16, 64])
    parser.add_argument("--rate", type=float, nargs="*", default=[], help="requests a second, also measured")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long requests arrive at each rate")
    parser.add_argument("--poisson", action="store_true", help="requests arrive by chance, not evenly spaced")
    parser.add_argument("--utterance-seconds", type=float, default=10.0)
    parser.add_argument("--prompt-seconds", type=float, default=5.0)
    parser.add_argument("--steps", type=int, default=4, help="of ZipVoice's solver")
    parser.add_argument("--precision", choices=sorted(PRECISIONS), help="what the engine prefers, if not given")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--eager", action="store_true", help="without CUDA graphs, where the engine can do without")
    parser.add_argument("--least", type=int, default=8, help="streams of each row, at least, by repetition")
    parser.add_argument("--in-turn", type=int, default=1, help="streams that follow each other in each one's place")
    parser.add_argument("--cold", action="store_true", help="without a round that does not count")
    parser.add_argument("--http", action="store_true", help="through a server in a process of its own")
    parser.add_argument("--workers", type=int, default=1, help="processes of doors of that server")
    parser.add_argument("--stages", action="store_true", help="show batches, rows, waits of the engine's stages")
    parser.add_argument("--tiny", action="store_true", help="small networks, to try the benchmark out")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="further settings")
    parser.add_argument("--among", type=int, help="compare a stream alone with the same among so many")
    parser.add_argument("--wait", action="store_true", help="measure when a line comes on standard input")
    parser.add_argument("--out", type=Path, help="JSON file to write, again after each row")
    return parser


def _seeded(given: argparse.Namespace) -> Seeded:
    return Seeded(
        engine=given.engine,
        device=given.device,
        precision=given.precision,
        seconds=given.utterance_seconds,
        prompt_seconds=given.prompt_seconds,
        steps=given.steps,
        eager=given.eager,
        sizes=Sizes.tiny() if given.tiny else Sizes(),
    )


async def run(given: argparse.Namespace, say: Callable[[str], None]) -> dict[str, object]:
    """Start the engine or a server with it, and measure."""
    seeded = _seeded(given)
    # At a rate, streams overlap as they like.
    streams = max([*given.at_once, *([256] if given.rate else []), 1])
    settings = seeded.settings(streams) | dict(each.split("=", 1) for each in given.set)
    if given.http:
        with http_target(seeded, settings | {"workers": given.workers}, tiny=given.tiny) as target:
            return await measure(target, given, say)
    loaded = load_settings(**settings)
    configure_logging(loaded)
    async with engine_target(seeded, loaded) as target:
        return await measure(target, given, say)


def main() -> None:
    given = arguments().parse_args()
    sys.setswitchinterval(HANDOVER_SECONDS)
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # a server's own
        runner.run(run(given, lambda line: print(line, flush=True)))
    print(report_published(given.engine), flush=True)


if __name__ == "__main__":
    main()
