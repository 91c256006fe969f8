"""Fault trials on a real Ray Serve: `python -m benchmarks.faults`.

Replicas are killed and made to hang under load, scaled up and down, and flooded. Then the path through Ray is timed
against the plain server, and two replicas against one. Each row of the table is a figure and, where one is promised,
whether the promise was kept.
"""

import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType

from ray import serve
from rich.console import Console
from rich.table import Table

from benchmarks.paced_engine import CHUNK_SECONDS, CHUNKS, PacedEngine
from polyvox.bench.dialect import OpenAIDialect
from polyvox.bench.load import Load, LoadRun, Outcome, RequestResult, run_load
from polyvox.bench.null import NullEngine
from polyvox.bench.process import server_process
from polyvox.bench.raw_http import connection_to, timed_request
from polyvox.bench.texts import ENGLISH
from polyvox.client import AsyncClient
from polyvox.deploy.local import application, cluster, free_port
from polyvox.deploy.plan import EngineArgs
from polyvox.deploy.ray import NAME
from polyvox.deploy.replica import ReplicaStatus
from polyvox.engines.catalog import Catalog
from polyvox.engines.kokoro.spec import KOKORO
from polyvox.engines.spec import EngineSpec
from polyvox.errors import ApiError, PolyvoxError
from polyvox.installation import load_settings

AUDIO_SECONDS = CHUNKS * CHUNK_SECONDS
WEDGED_SECONDS = 4.0
PATIENCE_SECONDS = 180.0
TIMINGS = 60
SHORT_TEXT = "Good morning."
ENGINES = Catalog((EngineSpec("trial", "the trial", {"paced": PacedEngine, "null": NullEngine}, {}), KOKORO))


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `kept` tells whether it is as promised, where something was."""

    trial: str
    figure: str
    value: str
    kept: bool | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Outcomes of the requests of a run, by kind of fault."""

    whole: int
    refused: int
    broken: int
    """Begun and visibly cut."""
    unanswered: int
    """Failed before their first audio."""
    short: int
    """Ended as if they were whole and were not."""

    @classmethod
    def of(cls, run: LoadRun) -> "Tally":
        counts = Counter(_fate(sample) for sample in run.samples)
        return cls(counts["whole"], counts["refused"], counts["broken"], counts["unanswered"], counts["short"])


def _fate(sample: RequestResult) -> str:
    if sample.outcome is Outcome.OVERLOADED:
        return "refused"
    if sample.outcome is Outcome.FAILED:
        return "unanswered" if sample.first_audio is None else "broken"
    return "whole" if abs(sample.audio_seconds - AUDIO_SECONDS) < 1e-3 else "short"


class Trials:
    """The trials, on one cluster with one application after another."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._say = say
        self._settings = load_settings(
            host="127.0.0.1",
            port=free_port("127.0.0.1"),
            data_dir=folder,
            log_level="error",
            drain_seconds=10.0,
            ray_wedged_seconds=WEDGED_SECONDS,
            ray_health_seconds=1.0,
            ray_upscale_delay_seconds=1.0,
            ray_downscale_delay_seconds=5.0,
        )

    def run(self) -> Iterator[Row]:
        """All of them, in a few minutes."""
        with cluster():
            with self._served("paced", replicas=(2, 2)) as url:
                yield from self._tried("kill -9 of one of two replicas", self._killed(url))
                yield from self._tried("one of two replicas hangs", self._wedged(url))
            with self._served("paced", replicas=(1, 2), max_ongoing=8) as url:
                yield from self._tried("1 -> 2 -> 1 replicas", self._scaled(url))
            with self._served("paced", replicas=(1, 1), max_ongoing=2, max_queued=4) as url:
                yield from self._tried("40 requests at once, room for 6", self._flooded(url))
            yield from self._overhead("null", "null", TIMINGS)
            yield from self._overhead("kokoro", "af_heart", TIMINGS // 4)
            yield from self._throughput()

    @contextmanager
    def _served(
        self, model: str, *, replicas: tuple[int, int], max_ongoing: int = 5, max_queued: int = 20
    ) -> Iterator[str]:
        fewest, most = replicas
        args = EngineArgs.model_validate(
            {
                "min_replicas": fewest,
                "initial_replicas": fewest,
                "max_replicas": most,
                "max_ongoing_requests": max_ongoing,
                "max_queued_requests": max_queued,
                "threads": 1,
            }
        )
        self._say(f"deploying {model} with {fewest} to {most} replicas")
        voice = "af_heart" if model == "kokoro" else model
        settings = self._settings.model_copy(update={"models": [model], "default_model": model, "default_voice": voice})
        with application(settings, ENGINES, {model: args}) as url:
            yield url

    def _tried(self, trial: str, rows: Coroutine[None, None, Sequence[tuple[str, str, bool | None]]]) -> list[Row]:
        self._say(trial)
        return [Row(trial, *row) for row in asyncio.run(rows)]

    async def _killed(self, url: str) -> Sequence[tuple[str, str, bool | None]]:
        """Six clients; one replica is killed while they are served."""
        running = asyncio.create_task(_load(url, requests=60, concurrency=6))
        await asyncio.sleep(3.0)
        replica = max(await _vitals(), key=lambda vitals: vitals.speaking)
        os.kill(replica.pid, signal.SIGKILL)
        recovery = await _seconds_until(partial(_without, replica.pid, 2))
        tally = Tally.of(await running)
        return [
            ("streams on it when it was killed", str(replica.speaking), None),
            ("answered in full, of 60", str(tally.whole), tally.whole >= 60 - replica.speaking),
            ("begun and visibly broken off", str(tally.broken), tally.broken <= replica.speaking),
            ("not begun and lost", str(tally.unanswered), tally.unanswered == 0),
            ("cut short without a sign", str(tally.short), tally.short == 0),
            ("two replicas again after", f"{recovery:.1f} s", None),
        ]

    async def _wedged(self, url: str) -> Sequence[tuple[str, str, bool | None]]:
        """Six clients; one replica hangs in the middle of a chunk for good, though its process lives."""
        before = {vitals.pid for vitals in await _vitals()}
        running = asyncio.create_task(_load(url, requests=60, concurrency=6))
        await asyncio.sleep(2.0)
        (self._settings.data_dir / "hang").touch()
        replaced = await _seconds_until(partial(_changed, before))
        tally = Tally.of(await running)
        return [
            ("answered in full, of 60", str(tally.whole), tally.whole >= 60 - 5),
            ("begun and visibly broken off", str(tally.broken), tally.broken <= 5),
            ("not begun and lost", str(tally.unanswered), tally.unanswered == 0),
            ("cut short without a sign", str(tally.short), tally.short == 0),
            (f"replaced after (it may be silent for {WEDGED_SECONDS:g} s)", f"{replaced:.1f} s", None),
        ]

    async def _scaled(self, url: str) -> Sequence[tuple[str, str, bool | None]]:
        """Six clients until there are two replicas, then one client until there is one again."""
        busy = asyncio.create_task(_load(url, requests=80, concurrency=6))
        up = await _seconds_until(partial(_replicas, 2))
        tallies = [Tally.of(await busy)]
        quiet = asyncio.create_task(_load(url, requests=60, concurrency=1))
        down = await _seconds_until(partial(_replicas, 1))
        tallies.append(Tally.of(await quiet))
        whole = sum(tally.whole for tally in tallies)
        return [
            ("second replica after", f"{up:.1f} s", None),
            ("one replica again after", f"{down:.1f} s", None),
            ("answered in full, of 140", str(whole), whole == 140),
        ]

    async def _flooded(self, url: str) -> Sequence[tuple[str, str, bool | None]]:
        flood = asyncio.create_task(_load(url, requests=30, concurrency=30))
        answered, refusals = await _refusals(url)
        tally = Tally.of(await flood)
        later = Tally.of(await _load(url, requests=10, concurrency=2))
        whole = tally.whole + answered
        refused = tally.refused + len(refusals)
        retry_after = refusals[0].retry_after if refusals else None
        return [
            ("answered in full", str(whole), whole >= 6),
            ("answered 429", str(refused), whole + refused == 40),
            ("Retry-After", f"{retry_after:g} s" if retry_after else "missing", bool(retry_after)),
            ("of 10 afterwards, answered in full", str(later.whole), later.whole == 10),
        ]

    def _overhead(self, model: str, voice: str, count: int) -> list[Row]:
        """Both servers by turns, so that a machine that slows down slows both."""
        trial = f"first audio, {model}, one replica with one thread"
        plain = _PLAIN[model]
        with ExitStack() as stack:
            here = stack.enter_context(self._served(model, replicas=(1, 1)))
            there = stack.enter_context(server_process(plain, {"POLYVOX_KOKORO_THREADS": "1"})).url
            self._say(trial)
            times: dict[str, list[float]] = {here: [], there: []}
            for turn in range(count + 5):
                for url, kept in times.items():
                    with connection_to(url) as connection:
                        timing = timed_request(connection, SHORT_TEXT, voice=voice, model=model)
                    if turn >= 5:
                        kept.append(1000 * timing.first)
        ray, uvicorn = statistics.median(times[here]), statistics.median(times[there])
        return [
            Row(trial, "plain server, median", f"{uvicorn:.1f} ms"),
            Row(trial, "on Ray Serve, median", f"{ray:.1f} ms"),
            Row(trial, "what Ray adds", f"{ray - uvicorn:.1f} ms"),
        ]

    def _throughput(self) -> list[Row]:
        trial = "throughput, kokoro, one thread a replica"
        rates = []
        for replicas in (1, 2):
            with self._served("kokoro", replicas=(replicas, replicas)) as url:
                self._say(f"{trial}: {replicas}")
                run = asyncio.run(_speak(url, requests=12, concurrency=4))
                rates.append(sum(sample.audio_seconds for sample in run.samples) / run.seconds)
        return [
            Row(trial, "1 replica", f"{rates[0]:.2f} s of audio a second"),
            Row(trial, "2 replicas", f"{rates[1]:.2f} s of audio a second"),
            Row(trial, "ratio", f"{rates[1] / rates[0]:.2f}"),
        ]


_PLAIN: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "null": ("bench", "null-server"),
        "kokoro": ("serve", "--host", "127.0.0.1", "--port", "0", "--model", "kokoro"),
    }
)


async def _load(url: str, *, requests: int, concurrency: int) -> LoadRun:
    return await run_load(Load(("One.",), "paced", "paced", requests, concurrency), OpenAIDialect(), url)


async def _speak(url: str, *, requests: int, concurrency: int) -> LoadRun:
    return await run_load(Load(ENGLISH[:4], "af_heart", "kokoro", requests, concurrency), OpenAIDialect(), url)


async def _refusals(url: str) -> tuple[int, list[ApiError]]:
    """Of ten requests at once, how many were answered in full, and the refusals."""
    async with AsyncClient(url, timeout=PATIENCE_SECONDS, trust_env=False) as client:
        speak = partial(client.speech, "One.", "paced", model="paced", response_format="pcm")
        answers = await asyncio.gather(*(speak() for _ in range(10)), return_exceptions=True)
    whole = sum(isinstance(answer, bytes) for answer in answers)
    refused = [answer for answer in answers if isinstance(answer, ApiError)]
    return whole, [error for error in refused if error.status == HTTPStatus.TOO_MANY_REQUESTS]


async def _vitals() -> list[ReplicaStatus]:
    handle = serve.get_deployment_handle("paced", NAME)
    answers = await handle.broadcast("status").results_async(timeout_s=PATIENCE_SECONDS, return_exceptions=True)
    return [answer for answer in answers if isinstance(answer, ReplicaStatus)]


async def _replicas(count: int) -> bool:
    states = serve.status().applications[NAME].deployments["paced"].replica_states
    return {state: number for state, number in states.items() if number} == {"RUNNING": count}


async def _without(pid: int, count: int) -> bool:
    pids = {vitals.pid for vitals in await _vitals()}
    return pid not in pids and len(pids) == count


async def _changed(before: set[int]) -> bool:
    now = {vitals.pid for vitals in await _vitals()}
    return len(now) == len(before) and now != before


async def _seconds_until(condition: Callable[[], Awaitable[bool]]) -> float:
    began = time.monotonic()
    while not await condition():
        if time.monotonic() - began > PATIENCE_SECONDS:
            raise TimeoutError(f"not within {PATIENCE_SECONDS:g} s")
        await asyncio.sleep(0.25)
    return time.monotonic() - began


def as_table(rows: Sequence[Row]) -> Table:
    """The rows as a table for a terminal."""
    table = Table()
    for name in ("trial", "figure", "value", ""):
        table.add_column(name)
    last = ""
    for row in rows:
        verdict = {None: "", True: "[green]kept", False: "[red]broken"}[row.kept]
        table.add_row("" if row.trial == last else row.trial, row.figure, row.value, verdict)
        last = row.trial
    return table


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run every trial, print the table, and fail where a promise was broken."""
    rows = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for row in Trials(Path(folder), _say).run():
                _say(f"  {row.figure}: {row.value}")
                rows.append(row)
    except PolyvoxError as error:
        sys.exit(f"error: {error.message}")
    Console(width=120).print(as_table(rows))
    sys.exit(0 if all(row.kept is not False for row in rows) else 1)


if __name__ == "__main__":
    main()
