"""The plot of an evaluation: a panel for each metric, a row for each voice, a dot for each utterance."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polyvox.errors import InvalidRequestError
from polyvox.evaluate.evaluation import Evaluation, UtteranceResult
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.report import Spread, VoiceSummary, summarize
from polyvox.evaluate.wer import WerResult
from polyvox.extras import PLOT
from polyvox.voices.recognition.similarity import SAME_SPEAKER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS = 60

INK = "#22313f"
MUTED = "#8494a4"
GRID = "#e4e9ee"
DOT = "#7fa8cf"
MEAN = "#1d5288"


@dataclass(frozen=True, slots=True)
class _Panel:
    """One metric: how to read it off an utterance, and the scale it is drawn on."""

    metric: Metric
    title: str
    value: Callable[[UtteranceResult], float | None]
    mean: Callable[[VoiceSummary], float | None]
    limits: tuple[float, float]
    mark: float | None = None


def _percent_wrong(words: WerResult | None) -> float | None:
    return None if words is None else 100 * words.rate


def _overall(sample: UtteranceResult) -> float | None:
    return None if sample.dnsmos is None else sample.dnsmos.overall


def _mean(spread: Spread | None) -> float | None:
    return None if spread is None else spread.mean


_PANELS = (
    _Panel(
        Metric.WER,
        "Word errors, %",
        lambda sample: _percent_wrong(sample.words),
        lambda row: _percent_wrong(row.words),
        (0, 10),
    ),
    _Panel(
        Metric.SIMILARITY,
        "Speaker similarity",
        lambda sample: sample.similarity,
        lambda row: _mean(row.similarity),
        (0, 1),
        SAME_SPEAKER,
    ),
    _Panel(
        Metric.DISTILLMOS,
        "Distill-MOS",
        lambda sample: sample.distillmos,
        lambda row: _mean(row.distillmos),
        (1, 5),
    ),
    _Panel(Metric.DNSMOS, "DNSMOS, overall", _overall, lambda row: _mean(row.dnsmos_overall), (1, 5)),
)


def check_plottable(file: Path, evaluation: Evaluation) -> None:
    """Refuse before the evaluation what would fail after it: no PNG, too many rows, or a machine without matplotlib."""
    if file.suffix.lower() != ".png":
        raise InvalidRequestError(f"The plot is a PNG file; {str(file)!r} does not end in .png.", field="plot")
    if len(evaluation.voices) > MAX_ROWS:
        raise InvalidRequestError(f"A plot has room for {MAX_ROWS} voices; leave some out.", field="plot")
    PLOT.check()


def save_plot(
    evaluation: Evaluation, samples: Sequence[UtteranceResult], metrics: Collection[Metric], file: Path
) -> None:
    """Draw the evaluation into a PNG file."""
    check_plottable(file, evaluation)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = [panel for panel in _PANELS if panel.metric in metrics]
    figure = Figure(figsize=(2 + 3 * len(panels), 1.6 + 0.45 * len(evaluation.voices)), dpi=150, facecolor="white")
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12, wspace=0.06)
    FigureCanvasAgg(figure)
    for panel, axes in zip(panels, figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], strict=True):
        _draw(axes, panel, evaluation.voices, samples)
    figure.suptitle(_headline(evaluation, samples), color=INK, fontsize=11, x=0.01, ha="left")
    figure.savefig(file)


def _headline(evaluation: Evaluation, samples: Sequence[UtteranceResult]) -> str:
    total = summarize("", samples)
    failed = f", {total.failed} failed" if total.failed else ""
    return (
        f"{len(evaluation.voices)} voices, {len(evaluation.texts)} texts: {total.spoken} utterances, "
        f"{total.seconds:.0f} s of audio{failed}; dots are utterances, bars their means"
    )


def _draw(axes: "Axes", panel: _Panel, voices: Sequence[str], samples: Sequence[UtteranceResult]) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = panel.limits
    for row, voice in enumerate(voices):
        of_voice = [sample for sample in samples if sample.voice == voice]
        values = [value for sample in of_voice if (value := panel.value(sample)) is not None]
        mean = panel.mean(summarize(voice, of_voice))
        if mean is None:
            axes.text(low, row, " not measured", va="center", color=MUTED, fontsize=8)
            continue
        # Dots of one voice are spread over its row in the order of the texts, so that equal figures stay visible.
        heights = row + np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else [row]
        axes.scatter(values, heights, s=14, color=DOT, linewidths=0, clip_on=False, zorder=2)
        axes.plot([mean, mean], [row - 0.33, row + 0.33], color=MEAN, linewidth=2.5, solid_capstyle="round", zorder=3)
        axes.text(mean, row - 0.36, f"{mean:.2f}", ha="center", va="bottom", color=MEAN, fontsize=7)
        low, high = min(low, *values), max(high, *values)
    if panel.mark is not None:
        axes.axvline(panel.mark, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    _style(axes, panel.title, voices)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def _style(axes: "Axes", title: str, voices: Sequence[str]) -> None:
    axes.set_title(title, loc="left", color=INK, fontsize=10, fontweight="bold")
    axes.set_yticks(range(len(voices)), [_short(voice) for voice in voices], color=INK, fontsize=9, parse_math=False)
    axes.set_ylim(len(voices) - 0.4, -0.7)
    axes.tick_params(colors=MUTED, labelsize=8, length=0)
    axes.tick_params(axis="y", labelcolor=INK, labelsize=9)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)


def _short(voice: str) -> str:
    return voice if len(voice) <= 32 else f"{voice[:31]}…"
