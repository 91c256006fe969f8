"""Distill-MOS: predicted mean opinion score of speech, by a small network distilled from a large one."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from polyvox.audio.analysis import ANALYSIS_RATE, speech_mono_16k
from polyvox.audio.features import hann_window
from polyvox.bundles.validate import Bundle
from polyvox.runtime.executors.ort import OrtGraph
from polyvox.types import Pcm

BUNDLE = "distillmos"

_WINDOW = 122_880  # 7.68 seconds
_LONGEST_STEP = ANALYSIS_RATE
_FRAME, _HOP = 320, 160
_COMPRESSION = 0.3
_LEAST_MAGNITUDE = 1e-12


class DistillMos:
    """The Distill-MOS model. Immutable after loading, so that threads may share it."""

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        self._graph = OrtGraph(bundle.file("model.onnx"), threads)

    def score(self, pcm: Pcm, rate: int) -> float:
        """A score from 1 to 5: the mean over windows of 7.68 seconds that start at most a second apart."""
        opinions = []
        for window in windows(speech_mono_16k(pcm, rate)):
            (mos,) = self._graph.run(["mos"], {"spectrum": compressed_spectrum(window)[np.newaxis]})
            opinions.append(float(mos[0]))
        return float(np.mean(opinions))


def windows(pcm: Pcm) -> Iterator[Pcm]:
    """Stretches of one length, evenly spread from the first to the last; a short recording ends in silence."""
    padded = np.pad(pcm, (0, max(0, _WINDOW - len(pcm))))
    spare = len(padded) - _WINDOW
    for share in np.linspace(0.0, 1.0, -(-spare // _LONGEST_STEP) + 1):
        start = int(share * spare)
        yield padded[start : start + _WINDOW]


def compressed_spectrum(window: Pcm) -> npt.NDArray[np.float32]:
    """Real and imaginary parts [2, 161, 768] of the spectrum, its magnitudes raised to a power below 1."""
    level = window / (np.abs(window).max() + 1e-8)
    padded = np.pad(level, (_FRAME - _HOP) // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    spectrum = np.fft.rfft(frames * hann_window(_FRAME)).T
    magnitude = np.maximum(np.abs(spectrum), _LEAST_MAGNITUDE)
    compressed = spectrum * magnitude ** (_COMPRESSION - 1.0)
    return np.stack((compressed.real, compressed.imag)).astype(np.float32)
