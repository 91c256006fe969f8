"""The report of a load run: percentiles, throughput and failures, as a table and as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyvox.bench.load import Load, LoadRun, Outcome, RequestResult

SHOWN_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Percentiles:
    """A distribution in five figures, interpolated linearly between neighbouring samples."""

    p50: float
    p90: float
    p95: float
    p99: float
    mean: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Percentiles":
        """The figures of at least one value."""
        p50, p90, p95, p99 = (float(value) for value in np.percentile(values, (50, 90, 95, 99)))
        return cls(p50, p90, p95, p99, float(np.mean(values)))


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """The figures of a run. Distributions, throughput and under-runs are those of the requests that succeeded."""

    requests: int
    ok: int
    overloaded: int
    failed: int
    seconds: float
    audio_seconds: float
    latency: Percentiles | None
    first_audio: Percentiles | None
    real_time_factor: Percentiles | None
    underruns: int
    starved_requests: int
    starved_seconds: float
    errors: dict[str, int]

    @property
    def requests_per_second(self) -> float:
        return self.ok / self.seconds

    @property
    def audio_per_second(self) -> float:
        """Seconds of audio delivered for each second of the run."""
        return self.audio_seconds / self.seconds


def summarize(run: LoadRun) -> LoadSummary:
    """The figures of a run."""
    outcomes = Counter(sample.outcome for sample in run.samples)
    good = [sample for sample in run.samples if sample.outcome is Outcome.OK]
    return LoadSummary(
        requests=len(run.samples),
        ok=outcomes[Outcome.OK],
        overloaded=outcomes[Outcome.OVERLOADED],
        failed=outcomes[Outcome.FAILED],
        seconds=run.seconds,
        audio_seconds=sum(sample.audio_seconds for sample in good),
        latency=_percentiles([sample.latency for sample in good]),
        first_audio=_percentiles([sample.first_audio for sample in good if sample.first_audio is not None]),
        real_time_factor=_percentiles([rtf for sample in good if (rtf := sample.real_time_factor) is not None]),
        underruns=sum(sample.underruns for sample in good),
        starved_requests=sum(sample.underruns > 0 for sample in good),
        starved_seconds=sum(sample.starved for sample in good),
        errors=dict(Counter(s.error for s in run.samples if s.outcome is Outcome.FAILED).most_common()),
    )


def _percentiles(values: Sequence[float]) -> Percentiles | None:
    """None where there are no values: a percentile of nothing is not zero."""
    return Percentiles.of(values) if values else None


def as_json(load: Load, run: LoadRun, summary: LoadSummary, url: str) -> dict[str, object]:
    """The whole run: the load, the summary, and every request."""
    return {
        "url": url,
        "load": asdict(load),
        "summary": asdict(summary)
        | {"requests_per_second": summary.requests_per_second, "audio_per_second": summary.audio_per_second},
        "samples": [_sample_json(sample) for sample in run.samples],
    }


def _sample_json(sample: RequestResult) -> dict[str, object]:
    return asdict(sample) | {"real_time_factor": sample.real_time_factor}


def as_table(load: Load, summary: LoadSummary) -> RenderableType:
    """The run as a table for a terminal."""
    parts: list[RenderableType] = [_distributions(summary), Text(_throughput(summary)), Text(_playback(load, summary))]
    if summary.overloaded:
        parts.append(Text(f"Refused as overloaded (429): {summary.overloaded}.", style="yellow"))
    for reason, count in list(summary.errors.items())[:SHOWN_ERRORS]:
        parts.append(Text(f"Failed ({count}): {reason}", style="red"))
    return Group(*parts)


def describe(load: Load) -> str:
    """The load in a few words."""
    if load.rate is None:
        return f"{load.requests} requests, closed loop, {load.concurrency} at a time"
    return f"{load.requests} requests, open loop, {load.rate:g} a second"


def _distributions(summary: LoadSummary) -> Table:
    table = Table()
    table.add_column("")
    for name in ("p50", "p90", "p95", "p99", "mean"):
        table.add_column(name, justify="right")
    rows = (
        ("time to first audio, ms", summary.first_audio, 1000.0, 1),
        ("latency, ms", summary.latency, 1000.0, 1),
        ("real-time factor", summary.real_time_factor, 1.0, 3),
    )
    for label, figures, scale, digits in rows:
        table.add_row(label, *(percentile_cells(figures, scale, digits)))
    return table


def percentile_cells(figures: Percentiles | None, scale: float, digits: int) -> list[str]:
    """The five figures as table cells."""
    if figures is None:
        return ["–"] * 5
    return [
        f"{value * scale:.{digits}f}" for value in (figures.p50, figures.p90, figures.p95, figures.p99, figures.mean)
    ]


def _throughput(summary: LoadSummary) -> str:
    return (
        f"{summary.ok} of {summary.requests} spoken in {summary.seconds:.2f} s: "
        f"{summary.audio_per_second:.2f} s of audio and {summary.requests_per_second:.2f} requests a second."
    )


def _playback(load: Load, summary: LoadSummary) -> str:
    buffered = f" with {load.prebuffer:g} s of pre-buffer" if load.prebuffer else ""
    if not summary.underruns:
        return f"Playback{buffered}: no under-runs."
    return (
        f"Playback{buffered}: {summary.underruns} under-runs in {summary.starved_requests} of {summary.ok} requests, "
        f"{summary.starved_seconds:.2f} s of starvation."
    )
