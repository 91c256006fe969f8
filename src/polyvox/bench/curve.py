"""A server's curve: first audio and throughput by the number of streams at once, as a table and as a picture."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from polyvox.bench.plot import INK, PERCENTILE_SHADES, SPEAKING, STARVED, blank_figure, style_axes
from polyvox.bench.report import LoadSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_REQUESTS = 8
"""Requests of each point, at least: one alone says little."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """So many streams at once, and what became of them."""

    at_once: int
    summary: LoadSummary

    def as_json(self) -> dict[str, object]:
        return {"at_once": self.at_once, **asdict(self.summary), "audio_per_second": self.summary.audio_per_second}

    def cells(self) -> list[str]:
        """A row of the table."""
        summary, first = self.summary, self.summary.first_audio
        times = ["–", "–"] if first is None else [f"{1e3 * value:.0f}" for value in (first.p50, first.p95)]
        counts = (summary.starved_requests, summary.overloaded, summary.failed)
        return [str(self.at_once), *times, f"{summary.audio_per_second:.2f}", *(str(count) for count in counts)]


def requests_for(at_once: int) -> int:
    """Requests of a point: each stream at least once."""
    return max(LEAST_REQUESTS, at_once)


def as_table(points: Sequence[CurvePoint]) -> Table:
    """The curve as a table for a terminal."""
    table = Table()
    heads = ("at once", "first audio, ms: p50", "p95", "seconds of audio a second", "with a gap", "refused", "failed")
    for head in heads:
        table.add_column(head, justify="right")
    for point in points:
        table.add_row(*point.cells())
    return table


def save_curve(points: Sequence[CurvePoint], title: str, file: Path) -> None:
    """Draw the curve into a PNG file."""
    figure = blank_figure((11, 4.6))
    figure.suptitle(title, color=INK, fontsize=12, x=0.01, ha="left")
    panels = figure.subplot_mosaic([["first", "speed"]])
    spoken = [point for point in points if point.summary.first_audio is not None]
    places = [point.at_once for point in spoken]
    style_axes(panels["first"], "First audio", "streams at once", "milliseconds")
    for name, shade in PERCENTILE_SHADES[:2]:
        times = [1e3 * getattr(point.summary.first_audio, name) for point in spoken]
        panels["first"].plot(places, times, marker="o", color=shade, label=name)
    style_axes(panels["speed"], "Throughput", "streams at once", "seconds of audio a second")
    panels["speed"].plot(
        places, [point.summary.audio_per_second for point in spoken], marker="o", color=SPEAKING, label="delivered"
    )
    panels["speed"].plot(
        places, places, color=STARVED, linestyle=(0, (4, 3)), linewidth=1, label="all of them playing live"
    )
    for axes in panels.values():
        _scale(axes, [point.at_once for point in points])
    figure.savefig(file)


def _scale(axes: "Axes", places: Sequence[int]) -> None:
    """Doublings lie at equal distances, and each measured number is named."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [str(place) for place in places])
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", frameon=False, fontsize=9, labelcolor=INK)
