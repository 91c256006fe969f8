"""Plots of the cloning study."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from polyvox.audio.analysis import ANALYSIS_RATE, mono_16k
from polyvox.audio.features import kaldi_fbank
from polyvox.errors import UnavailableError
from polyvox.extras import install_hint
from polyvox.types import Pcm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 80
_SPECTROGRAM_SECONDS = 3.0
_SHADES, _RANGE = 12, 12.0


class _Alike(Protocol):
    @property
    def similarity(self) -> float: ...


class _Row(Protocol):
    @property
    def clip(self) -> str: ...

    @property
    def stock(self) -> _Alike: ...

    @property
    def fitted(self) -> _Alike: ...


def save_similarities(results: Sequence[_Row], file: Path) -> None:
    """Two bars for each clip: the nearest built-in voice and the fitted one."""
    figure = _figure(8.0, 3.2)
    axes = figure.subplots()
    places = np.arange(len(results))
    axes.bar(places - 0.2, [row.stock.similarity for row in results], 0.4, label="nearest built-in voice", color="0.7")
    axes.bar(places + 0.2, [row.fitted.similarity for row in results], 0.4, label="fitted voice", color="#2a6f97")
    axes.set_xticks(places, [row.clip for row in results], rotation=20, ha="right", fontsize=8)
    axes.set_ylabel("similarity to the clip")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=_DPI)


def save_spectrograms(named: Sequence[tuple[str, Pcm, int]], file: Path) -> None:
    """Mel spectrograms of recordings, one above the other."""
    figure = _figure(6.5, 1.4 * len(named))
    for axes, (name, pcm, rate) in zip(np.atleast_1d(figure.subplots(len(named), 1)), named, strict=True):
        energies = kaldi_fbank(mono_16k(pcm, rate)[: round(_SPECTROGRAM_SECONDS * ANALYSIS_RATE)], ANALYSIS_RATE)
        # In few shades, so that the picture stays small.
        shades = np.round(_SHADES * np.clip(1 + (energies.T - energies.max()) / _RANGE, 0, 1))
        axes.imshow(shades, origin="lower", aspect="auto", cmap="magma", interpolation="nearest")
        axes.set_title(name, fontsize=8, loc="left")
        axes.set_xticks([])
        axes.set_yticks([])
    figure.savefig(file, dpi=_DPI)


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnavailableError(f"Plots need matplotlib; run: {install_hint('plot')}.") from error
    return Figure(figsize=(width, height), layout="constrained")
