"""DNSMOS: predicted mean opinion scores of speech, by the networks of Microsoft's noise suppression challenge.

After Reddy, Gopal and Cutler, "DNSMOS P.835: A Non-Intrusive Perceptual Objective Speech Quality Metric to Evaluate
Noise Suppressors" (2022).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polyvox.audio.analysis import ANALYSIS_RATE, speech_mono_16k
from polyvox.audio.features import Features, hann_window, slaney_filters
from polyvox.bundles.validate import Bundle
from polyvox.runtime.executors.ort import OrtGraph
from polyvox.types import Pcm

BUNDLE = "dnsmos"

_WINDOW = 144_160  # 9.01 seconds
_INPUT = "input_1"

# From the network's raw output to the listeners' scale, by the published polynomials, highest power first.
_SIGNAL_FIT = (-0.08397278, 1.22083953, 0.0052439)
_BACKGROUND_FIT = (-0.13166888, 1.60915514, -0.39604546)
_OVERALL_FIT = (-0.06766283, 1.11546468, 0.04602535)

_P808_BINS = 120
_P808_FRAME = 321
_P808_HOP = 160
_P808_UNHEARD = 160
_DYNAMIC_RANGE_DB = 80.0
_LEAST_POWER = 1e-10


@dataclass(frozen=True, slots=True)
class DnsScores:
    """Four scores from 1 to 5: of the whole by ITU-T P.808; of speech, background and both together by P.835."""

    p808: float
    signal: float
    background: float
    overall: float


class DnsMos:
    """The DNSMOS models. Immutable after loading, so that threads may share them."""

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        self._p835 = OrtGraph(bundle.file("p835.onnx"), threads)
        self._p808 = OrtGraph(bundle.file("p808.onnx"), threads)

    def score(self, pcm: Pcm, rate: int) -> DnsScores:
        """The mean over windows of nine seconds; a shorter recording is doubled until it fills one."""
        rows = np.array([self._window_scores(window) for window in windows(speech_mono_16k(pcm, rate))])
        return DnsScores(*(float(mean) for mean in rows.mean(axis=0)))

    def _window_scores(self, window: Pcm) -> tuple[float, ...]:
        (raw,) = self._p835.run(self._p835.outputs, {_INPUT: window[np.newaxis]})
        features = p808_features(window[:-_P808_UNHEARD])
        (p808,) = self._p808.run(self._p808.outputs, {_INPUT: features[np.newaxis]})
        fits = (_SIGNAL_FIT, _BACKGROUND_FIT, _OVERALL_FIT)
        return float(p808[0, 0]), *(float(np.polyval(fit, value)) for fit, value in zip(fits, raw[0], strict=True))


def windows(pcm: Pcm) -> Iterator[Pcm]:
    """Stretches of 9.01 seconds, one for each whole second that they can start at, as the original chooses them."""
    while len(pcm) < _WINDOW:
        pcm = np.concatenate((pcm, pcm))
    for second in range(max(1, len(pcm) // ANALYSIS_RATE - 9)):
        start = second * ANALYSIS_RATE
        yield pcm[start : start + _WINDOW]


def p808_features(pcm: Pcm) -> Features:
    """Mel powers [frames, 120] in decibels below the loudest, mapped so that 0 is 40 dB below it and 1 the loudest."""
    padded = np.pad(pcm, _P808_FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _P808_FRAME)[::_P808_HOP]
    filters = slaney_filters(ANALYSIS_RATE, _P808_FRAME, _P808_BINS)
    powers = np.square(np.abs(np.fft.rfft(frames * hann_window(_P808_FRAME)))) @ filters.T
    decibels = 10.0 * np.log10(np.maximum(powers, _LEAST_POWER) / max(float(powers.max()), _LEAST_POWER))
    features: Features = ((np.maximum(decibels, -_DYNAMIC_RANGE_DB) + 40.0) / 40.0).astype(np.float32)
    return features
