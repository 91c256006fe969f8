"""The plot of a load run: time to first audio, real-time factor, and a timeline of the requests."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polyvox.bench.load import Load, LoadRun, Outcome, RequestResult
from polyvox.bench.report import LoadSummary, Percentiles, describe
from polyvox.errors import InvalidRequestError
from polyvox.extras import PLOT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#22313f"
MUTED = "#8494a4"
GRID = "#e4e9ee"
WAITING = "#b9cfe4"
SPEAKING = "#2a6fb0"
STARVED = "#d98a1f"
REFUSED = "#c0392b"
PERCENTILE_SHADES = (("p50", "#2a6fb0"), ("p95", "#d98a1f"), ("p99", "#c0392b"))


def check_plottable(file: Path) -> None:
    """Refuse before the run what would fail after it: a file that is no PNG, or a machine without matplotlib."""
    if file.suffix.lower() != ".png":
        raise InvalidRequestError(f"The plot is a PNG file; {str(file)!r} does not end in .png.", field="plot")
    PLOT.check()


def save_plot(load: Load, run: LoadRun, summary: LoadSummary, file: Path) -> None:
    """Draw the run into a PNG file."""
    check_plottable(file)
    figure = blank_figure((11, 8))
    _draw(figure, load, run, summary)
    figure.savefig(file)


def blank_figure(inches: tuple[float, float]) -> "Figure":
    """An empty picture that is drawn without a window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=inches, dpi=150, facecolor="white")
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12, wspace=0.02, hspace=0.03)
    FigureCanvasAgg(figure)
    return figure


def _draw(figure: "Figure", load: Load, run: LoadRun, summary: LoadSummary) -> None:
    good = [sample for sample in run.samples if sample.outcome is Outcome.OK]
    panels = figure.subplot_mosaic([["first", "factor"], ["time", "time"]], height_ratios=[1, 1.25])
    figure.suptitle(_headline(load, summary), color=INK, fontsize=12, x=0.01, ha="left")
    _distribution(
        panels["first"],
        [sample.first_audio * 1000 for sample in good if sample.first_audio is not None],
        "Time to first audio",
        "milliseconds",
        summary.first_audio,
        1000.0,
    )
    factors = [factor for sample in good if (factor := sample.real_time_factor) is not None]
    _distribution(
        panels["factor"],
        factors,
        "Real-time factor",
        "seconds waited per second of audio",
        summary.real_time_factor,
        1.0,
    )
    if factors and max(factors) > 0.8:
        panels["factor"].axvline(1.0, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    _timeline(panels["time"], run.samples)


def _headline(load: Load, summary: LoadSummary) -> str:
    return (
        f"{describe(load)}: {summary.audio_per_second:.2f} s of audio a second, {summary.ok} spoken, "
        f"{summary.overloaded} refused, {summary.failed} failed, {summary.underruns} under-runs"
    )


def style_axes(axes: "Axes", title: str, x_label: str, y_label: str) -> None:
    """Name a panel and its axes, and keep everything but the data faint."""
    axes.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
    axes.set_xlabel(x_label, color=MUTED, fontsize=9)
    axes.set_ylabel(y_label, color=MUTED, fontsize=9)
    axes.tick_params(colors=MUTED, labelsize=8, length=0)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)


def _distribution(
    axes: "Axes", values: Sequence[float], title: str, unit: str, percentiles: Percentiles | None, scale: float
) -> None:
    """The share of requests at or below each value, with the percentiles people quote."""
    style_axes(axes, title, unit, "share of requests, %")
    axes.set_ylim(0, 104)
    if not values or percentiles is None:
        axes.text(0.5, 0.5, "no request succeeded", transform=axes.transAxes, ha="center", color=MUTED)
        return
    ordered = np.sort(np.asarray(values))
    shares = np.arange(1, len(ordered) + 1) / len(ordered) * 100
    axes.step(np.concatenate(([ordered[0]], ordered)), np.concatenate(([0.0], shares)), where="post", color=SPEAKING)
    axes.fill_between(ordered, shares, step="post", color=SPEAKING, alpha=0.08, linewidth=0)
    for name, shade in PERCENTILE_SHADES:
        value = getattr(percentiles, name) * scale
        axes.plot(
            [value],
            [float(name[1:])],
            marker="o",
            markersize=6,
            color=shade,
            clip_on=False,
            linestyle="none",
            label=f"{name}  {value:,.{_digits(value)}f}",
        )
    axes.set_xlim(left=0)
    axes.legend(loc="lower right", framealpha=0.9, edgecolor="none", fontsize=9, labelcolor=INK, handletextpad=0.3)


def _digits(value: float) -> int:
    return 0 if value >= 100 else 1 if value >= 10 else 3


def _timeline(axes: "Axes", samples: Sequence[RequestResult]) -> None:
    """Each request as a line, pale until its first audio, dark until its last; marked where it starved or failed."""
    from matplotlib.ticker import MaxNLocator

    style_axes(axes, "Requests", "seconds into the run", "request")
    spoken = [sample for sample in samples if sample.first_audio is not None]
    rows = [sample.index for sample in spoken]
    begin = [sample.due for sample in spoken]
    audible = [sample.due + (sample.first_audio or 0.0) for sample in spoken]
    end = [sample.due + sample.latency for sample in spoken]
    width = float(np.clip(260 / max(1, len(samples)), 0.6, 6.0))
    axes.hlines(rows, begin, audible, color=WAITING, linewidth=width, label="until first audio")
    axes.hlines(rows, audible, end, color=SPEAKING, linewidth=width, label="audio arriving")
    marks = (
        ("under-run", STARVED, "D", [sample for sample in samples if sample.underruns]),
        ("refused (429)", MUTED, "x", [sample for sample in samples if sample.outcome is Outcome.OVERLOADED]),
        ("failed", REFUSED, "x", [sample for sample in samples if sample.outcome is Outcome.FAILED]),
    )
    for label, colour, marker, marked in marks:
        if marked:
            axes.scatter(
                [sample.due + sample.latency for sample in marked],
                [sample.index for sample in marked],
                color=colour,
                marker=marker,
                s=22,
                linewidths=1.4,
                label=label,
                zorder=3,
            )
    axes.set_xlim(left=0)
    axes.set_ylim(len(samples) - 0.5, -0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, 1.12), ncols=5, frameon=False, fontsize=9, labelcolor=INK)
