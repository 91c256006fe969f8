"""Perth's networks from their bundle: mark streams, find marks."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import onnxruntime

from polyvox.audio.resample import resampled
from polyvox.bundles.validate import open_bundle
from polyvox.onnx_session import open_session
from polyvox.provenance.perth.spectrum import (
    BINS,
    FRAMES_PER_SECOND,
    SIDE_RATE,
    Levels,
    Samples,
    SpectrumFrames,
    divides,
    gains_of,
    has_sound,
    levels_of,
    mirrored,
)
from polyvox.provenance.perth.stream import PerthStream
from polyvox.provenance.watermark import WatermarkFinding, WatermarkStream
from polyvox.types import Pcm

BUNDLE = "perth"
FOUND = 0.5
"""The least confidence that counts as a mark."""

_PACES = {"slow": 1.25, "normal": 1.0, "fast": 0.75}
_WINDOW, _STEP = 2 * FRAMES_PER_SECOND, FRAMES_PER_SECOND // 2
_BLOCK_SECONDS = 60

Sounding = npt.NDArray[np.bool_]


class Perth:
    """Marks speech and finds the mark. Immutable but for the network that finds, which is loaded on first use."""

    name = BUNDLE

    def __init__(self, marker: Path | bytes, finder: Path | bytes) -> None:
        self._marker = open_session(marker, mem_pattern=False)
        self._finder_graph = finder

    @classmethod
    def installed(cls, models_dir: Path) -> Self:
        """That of the installed bundle; BundleError where there is none."""
        bundle = open_bundle(BUNDLE, models_dir)
        return cls(bundle.file("marker.onnx"), bundle.file("finder.onnx"))

    def stream(self, sample_rate: int, channels: int) -> WatermarkStream:
        """Begin to mark a stream."""
        return PerthStream(self._gains, sample_rate, channels)

    def find(self, pcm: Pcm, sample_rate: int) -> WatermarkFinding:
        """Search every two seconds of every channel; those with the clearest mark decide."""
        seconds = len(pcm) / sample_rate
        if not divides(sample_rate):
            pcm, sample_rate = resampled(pcm, sample_rate, SIDE_RATE), SIDE_RATE
        block, overlap = _BLOCK_SECONDS * sample_rate, _WINDOW // FRAMES_PER_SECOND * sample_rate
        confidence = 0.0
        for channel in np.atleast_2d(pcm.T):
            for start in range(0, max(1, len(channel) - overlap), block - overlap):
                confidence = max(confidence, self._clearest(channel[start : start + block], sample_rate))
        return WatermarkFinding(confidence, confidence >= FOUND, seconds)

    def _clearest(self, pcm: Pcm, sample_rate: int) -> float:
        """The clearest mark of mono samples: about 1 where there is one, about 0 where there is none."""
        frames = SpectrumFrames(sample_rate)
        levels = levels_of(frames.spectra(mirrored(pcm[np.newaxis], frames.half, frames.half)))
        sounding = has_sound(levels)[0]
        if not sounding.any():
            return 0.0
        stretched = {pace: _stretched(levels[:, :BINS], factor) for pace, factor in _PACES.items()}
        evidence = [each[0] for each in self._finder.run([f"{pace}_evidence" for pace in _PACES], stretched)]
        return max((_score(evidence, sounding, window) for window in _windows(len(sounding))), default=0.0)

    def _gains(self, levels: Levels) -> Samples:
        (change,) = self._marker.run(["change"], {"levels": levels})
        return gains_of(change)

    @cached_property
    def _finder(self) -> onnxruntime.InferenceSession:
        return open_session(self._finder_graph, mem_pattern=False)


def _stretched(levels: Levels, factor: float) -> Levels:
    """Levels [1, bins, frames] at another pace, interpolated, the first and the last frame in place."""
    count = levels.shape[2]
    if factor == 1.0:
        return levels
    places = np.linspace(0, count - 1, max(1, int(factor * count)))
    left = places.astype(np.int64)
    right, share = np.minimum(left + 1, count - 1), (places - left).astype(np.float32)
    stretched: Levels = levels[:, :, left] * (1 - share) + levels[:, :, right] * share
    return stretched


def _windows(count: int) -> Iterator[slice]:
    """Windows of two seconds, half a second apart; the last one ends with the last of the frames."""
    for start in range(0, max(1, count - _WINDOW + _STEP), _STEP):
        begin = max(0, min(start, count - _WINDOW))
        yield slice(begin, begin + _WINDOW)


def _score(evidence: list[Levels], sounding: Sounding, window: slice) -> float:
    """The score of a window by the evidence [2, frames] at each pace, which says how much it is to be believed."""
    if not sounding[window].any():
        return 0.0
    means = []
    for each in evidence:
        nearest = np.arange(each.shape[1]) * len(sounding) // each.shape[1]
        inside = (nearest >= window.start) & (nearest < window.stop) & sounding[nearest]
        means.append(each[:, inside].mean(axis=1) if inside.any() else np.zeros(2, np.float32))
    belief, score = np.array(means, np.float64).T
    weights = np.exp(belief - belief.max())
    return float(np.clip(weights @ score / weights.sum(), 0.0, 1.0))
