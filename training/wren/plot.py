"""`python -m training.wren.plot`: losses of a run's log and scores of its held-out sentences as a PNG."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DPI = 90
_SMOOTHING = 9
_TEACHER, _STUDENT, _LOSSES = "#8494a4", "#2a6fb0", ("#2a6fb0", "#c0562f", "#4d8f4d", "#8a5ba8")
_NAMES = ("spectral_loss", "feature_loss", "adversarial_loss", "discriminator_loss")

Row = Mapping[str, Any]


def read_lines(files: Sequence[Path]) -> list[Row]:
    """All lines of JSON-lines files, in order."""
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def save_plot(log: Sequence[Row], scores: Sequence[Row], file: Path) -> None:
    """Draw losses over steps, and Distill-MOS per speaker where there are scores."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    losses, bars = figure.subplots(1, 2)
    _draw_losses(losses, [row for row in log if "spectral_loss" in row])
    _draw_scores(bars, [row for row in scores if row["speaker"] != "all"])
    figure.savefig(file)


def _draw_losses(axes: "Axes", rows: Sequence[Row]) -> None:
    for name, colour in zip(_NAMES, _LOSSES, strict=True):
        known = [row for row in rows if row["adversarial"] or name == "spectral_loss"]
        steps, values = [row["step"] for row in known], [row[name] for row in known]
        axes.plot(steps, values, color=colour, alpha=0.25, linewidth=0.8)
        axes.plot(steps, _smooth(values), color=colour, label=name.replace("_", " "))
    axes.set(title="Losses", xlabel="step", ylim=(0, 3))
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.3)


def _smooth(values: Sequence[float]) -> list[float]:
    """Median over neighbours."""
    half = _SMOOTHING // 2
    return [float(np.median(values[max(0, place - half) : place + half + 1])) for place in range(len(values))]


def _draw_scores(axes: "Axes", scores: Sequence[Row]) -> None:
    places = np.arange(len(scores))
    for offset, side, colour in ((-0.2, "teacher", _TEACHER), (0.2, "student", _STUDENT)):
        axes.bar(places + offset, [row[f"{side}_mos"] for row in scores], 0.4, color=colour, label=side)
    axes.set_xticks(places, [row["speaker"] for row in scores], rotation=60, ha="right", fontsize=8)
    axes.set(title="Distill-MOS of held-out sentences", ylim=(2.5, 5))
    axes.legend(frameon=False, fontsize=8, ncols=2)
    axes.grid(axis="y", alpha=0.3)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read logs and scores, write the plot."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.plot", description=__doc__)
    parser.add_argument("logs", type=Path, nargs="+", help="log.jsonl of one run or more, in order")
    parser.add_argument("--scores", type=Path, help="what `training.wren.score` printed")
    parser.add_argument("--out", type=Path, default=Path("wren.png"))
    options = parser.parse_args(arguments)
    save_plot(read_lines(options.logs), read_lines([options.scores]) if options.scores else [], options.out)


if __name__ == "__main__":
    main()
