"""The server's CPU cost against the bare model, its time to first audio, and its overhead outside the engine.

Every figure compares two measurements of one run on one machine, so it holds on a slow machine as on a fast one.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table

from polyvox.bench.bare import BareKokoro, planned_calls
from polyvox.bench.process import ServerProcess, server_process
from polyvox.bench.raw_http import RequestTiming, connection_to, timed_request
from polyvox.bench.texts import PARAGRAPH
from polyvox.config import Settings

CPU_RATIO_LIMIT = 1.05
FIRST_AUDIO_LIMIT = 0.15
OVERHEAD_LIMIT = 0.005
SETTLE_SECONDS = 0.05
"""Wait before CPU time is read, since a request's log line and the release of its session belong to it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One figure against its limit; `low` and `high` are the extremes of the rounds whose median it is."""

    name: str
    unit: str
    value: float
    low: float
    high: float
    limit: float | None = None

    @property
    def passed(self) -> bool:
        return self.limit is None or self.value <= self.limit

    @classmethod
    def of(cls, name: str, unit: str, values: Sequence[float], limit: float | None = None) -> "Check":
        return cls(name, unit, statistics.median(values), min(values), max(values), limit)


@dataclass(frozen=True, slots=True)
class _Round:
    """The paragraph once through the server and once through the bare model."""

    timing: RequestTiming
    cpu_until_first: float
    server_cpu: float
    bare_cpu: float


def bench_engine(
    settings: Settings, rounds: int, overhead_requests: int, progress: Callable[[str], None]
) -> list[Check]:
    """Run all checks one after another; the machine should be idle otherwise."""
    progress("starting the server and the bare model")
    measured = _rounds(settings, rounds, progress)
    progress("requests to an engine that costs nothing")
    overheads = _overheads(overhead_requests, ("pcm", "mp3"))
    return [
        Check.of("server / bare model", "", [r.server_cpu / r.bare_cpu for r in measured], CPU_RATIO_LIMIT),
        Check.of("server CPU", "s/s", [r.server_cpu / r.timing.audio for r in measured]),
        Check.of("bare model CPU", "s/s", [r.bare_cpu / r.timing.audio for r in measured]),
        Check.of(
            "first audio, of CPU",
            "%",
            [100 * r.cpu_until_first / r.server_cpu for r in measured],
            100 * FIRST_AUDIO_LIMIT,
        ),
        Check.of(
            "first audio, of time",
            "%",
            [100 * r.timing.first / r.timing.total for r in measured],
            100 * FIRST_AUDIO_LIMIT,
        ),
        Check.of("first audio", "ms", [1000 * r.timing.first for r in measured]),
        Check.of(
            "outside engine, pcm", "ms", [1000 * timing.total for timing in overheads["pcm"]], 1000 * OVERHEAD_LIMIT
        ),
        Check.of("outside engine, mp3", "ms", [1000 * timing.total for timing in overheads["mp3"]]),
    ]


def _rounds(settings: Settings, rounds: int, progress: Callable[[str], None]) -> list[_Round]:
    """Server and bare model by turns, so that a machine that slows down slows both."""
    calls = planned_calls(settings, PARAGRAPH)
    bare = BareKokoro(settings)
    arguments = ["serve", "--host", "127.0.0.1", "--port", "0", "--models-dir", str(settings.models_dir)]
    measured = []
    with server_process([*arguments, "--model", "kokoro"]) as server:
        for turn in range(rounds + 1):
            progress(f"round {turn} of {rounds}" if turn else "warming up")
            timing, until_first, total = _through_server(server, settings.default_voice)
            bare_cpu = bare.cpu_seconds(calls)
            if turn:
                measured.append(_Round(timing, until_first, total, bare_cpu))
    return measured


def _through_server(server: ServerProcess, voice: str) -> tuple[RequestTiming, float, float]:
    """The paragraph through the server, its CPU time until the first audio, and its CPU time until all was done."""
    with connection_to(server.url) as connection:
        marks: list[float] = [server.cpu_seconds()]
        timing = timed_request(
            connection, PARAGRAPH, voice=voice, model="kokoro", on_first=lambda: marks.append(server.cpu_seconds())
        )
        time.sleep(SETTLE_SECONDS)
        return timing, marks[1] - marks[0], server.cpu_seconds() - marks[0]


def _overheads(requests: int, audio_formats: Sequence[str]) -> dict[str, list[RequestTiming]]:
    """Timings, by format, of sequential requests to a server whose engine returns precomputed samples."""
    warm_up = max(1, requests // 10)
    timings = {}
    with server_process(["bench", "null-server"]) as server, connection_to(server.url) as connection:
        for audio_format in audio_formats:
            made = [
                timed_request(connection, PARAGRAPH, voice="null", model="null", audio_format=audio_format)
                for _ in range(warm_up + requests)
            ]
            timings[audio_format] = made[warm_up:]
    return timings


def as_table(checks: Sequence[Check]) -> Table:
    """The checks as a table for a terminal."""
    table = Table()
    table.add_column("", no_wrap=True)
    for name in ("median", "least", "most", "limit"):
        table.add_column(name, justify="right")
    table.add_column("")
    for check in checks:
        limit = "" if check.limit is None else _figure(check.limit, check.unit)
        verdict = "" if check.limit is None else "[green]met" if check.passed else "[red]missed"
        figures = (_figure(value, check.unit) for value in (check.value, check.low, check.high))
        table.add_row(check.name, *figures, limit, verdict)
    return table


def _figure(value: float, unit: str) -> str:
    digits = 0 if value >= 100 else {"%": 1, "ms": 2}.get(unit, 3)
    return f"{value:.{digits}f} {unit}".rstrip()
