"""Where in a recording somebody speaks, by the Silero network on ONNX Runtime."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import onnxruntime

from polyvox.audio.resample import resampled
from polyvox.bundles.validate import Bundle
from polyvox.types import Pcm, Span

SAMPLE_RATE = 16_000
WINDOW = 512
"""The network gives one probability for each stretch of so many samples at 16 kHz: 32 ms."""

# Each window is read together with the end of the one before it.
_CONTEXT = 64
_WINDOWS_AT_ONCE = 1024

_SPEECH_STARTS = 0.5
_SPEECH_ENDS = 0.35
_SHORTEST_SPEECH = round(0.25 * SAMPLE_RATE / WINDOW)
_SHORTEST_PAUSE = round(0.1 * SAMPLE_RATE / WINDOW)


class SpeechDetector:
    """Finds speech; immutable after loading, so calls from several threads do not disturb each other."""

    def __init__(self, bundle: Bundle) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            bundle.file("model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        """The stretches of speech in a mono recording, in its own samples, in order and not overlapping."""
        per_window = WINDOW * rate / SAMPLE_RATE
        return [
            Span(round(stretch.start * per_window), min(round(stretch.end * per_window), len(pcm)))
            for stretch in stretches(self.probabilities(resampled(pcm, rate, SAMPLE_RATE)))
        ]

    def probabilities(self, pcm: Pcm) -> npt.NDArray[np.float32]:
        """For each window of a mono recording at 16 kHz, how likely somebody speaks in it."""
        hidden = cell = np.zeros((1, 1, 128), np.float32)
        found = [np.zeros(0, np.float32)]
        for block in _blocks(pcm):
            heard, hidden, cell = self._session.run(None, {"input": block, "h": hidden, "c": cell})
            found.append(heard)
        return np.concatenate(found)


def _blocks(pcm: Pcm) -> Iterator[npt.NDArray[np.float32]]:
    """The windows [n, context + window], a bounded number at a time; the last is filled up with silence."""
    padded = np.pad(pcm, (_CONTEXT, -len(pcm) % WINDOW))
    if len(padded) < _CONTEXT + WINDOW:
        return
    windows = np.lib.stride_tricks.sliding_window_view(padded, _CONTEXT + WINDOW)[::WINDOW]
    for start in range(0, len(windows), _WINDOWS_AT_ONCE):
        yield np.ascontiguousarray(windows[start : start + _WINDOWS_AT_ONCE])


def stretches(probabilities: Sequence[float] | npt.NDArray[np.float32]) -> list[Span]:
    """Windows of speech, from a clear start to a clear end; short pauses are bridged, then short sounds left out.

    Each stretch takes in the window before it and the one behind it, where a word's faint edges are.
    """
    joined: list[Span] = []
    for stretch in _clear_stretches(probabilities):
        if joined and stretch.start - joined[-1].end < _SHORTEST_PAUSE:
            stretch = joined.pop().cover(stretch)
        joined.append(stretch)
    last = len(probabilities)
    return [
        Span(max(stretch.start - 1, 0), min(stretch.end + 1, last))
        for stretch in joined
        if len(stretch) >= _SHORTEST_SPEECH
    ]


def _clear_stretches(probabilities: Sequence[float] | npt.NDArray[np.float32]) -> Iterator[Span]:
    start: int | None = None
    for index, probability in enumerate(probabilities):
        if start is None and probability >= _SPEECH_STARTS:
            start = index
        elif start is not None and probability < _SPEECH_ENDS:
            yield Span(start, index)
            start = None
    if start is not None:
        yield Span(start, len(probabilities))
