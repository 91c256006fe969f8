"""Voice activity detection with Silero VAD on ONNX Runtime."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
import numpy.typing as npt

from polyvox.audio.resample import resampled
from polyvox.onnx_session import open_session
from polyvox.types import Pcm, Span

SAMPLE_RATE = 16_000
WINDOW = 512
"""Samples per probability at 16 kHz: 32 ms."""

# Each window is read together with the end of the one before it.
_CONTEXT = 64
_WINDOWS_AT_ONCE = 1024
_STATE_SHAPE = (1, 1, 128)

_SPEECH_STARTS = 0.5
_SPEECH_ENDS = 0.35
_SHORTEST_SPEECH = round(0.25 * SAMPLE_RATE / WINDOW)
_SHORTEST_PAUSE = round(0.1 * SAMPLE_RATE / WINDOW)


@dataclass(frozen=True, slots=True)
class VadState:
    """The state of the network between two parts of a stream, and the last samples of the part before."""

    hidden: npt.NDArray[np.float32]
    cell: npt.NDArray[np.float32]
    context: Pcm

    @classmethod
    def start(cls) -> "VadState":
        """The state before a stream."""
        zeros = np.zeros(_STATE_SHAPE, np.float32)
        return cls(zeros, zeros, np.zeros(_CONTEXT, np.float32))


class SileroVad:
    """Silero VAD. It has no state of its own after loading, so several threads may use it at once."""

    def __init__(self) -> None:
        # Of the graphs in silero-vad 6.2.3, the one that takes a whole sequence of windows in one run.
        with resources.as_file(resources.files("polyvox.voices.recording") / "silero_vad.onnx") as file:
            self._session = open_session(file, arena=False)

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        """The speech segments of a mono recording, in its own samples, in order and not overlapping."""
        per_window = WINDOW * rate / SAMPLE_RATE
        return [
            Span(round(segment.start * per_window), min(round(segment.end * per_window), len(pcm)))
            for segment in speech_segments(self.probabilities(resampled(pcm, rate, SAMPLE_RATE)))
        ]

    def probabilities(self, pcm: Pcm) -> npt.NDArray[np.float32]:
        """The probability of speech in each window of a mono recording at 16 kHz; the last is filled with silence."""
        padded, state = np.pad(pcm, (0, -len(pcm) % WINDOW)), VadState.start()
        found = [np.zeros(0, np.float32)]
        for start in range(0, len(padded), _WINDOWS_AT_ONCE * WINDOW):
            probabilities, state = self.advance(padded[start : start + _WINDOWS_AT_ONCE * WINDOW], state)
            found.append(probabilities)
        return np.concatenate(found)

    def advance(self, pcm: Pcm, state: VadState) -> tuple[npt.NDArray[np.float32], VadState]:
        """The probabilities of the next windows of a stream, whole ones and at least one, and the state behind them."""
        joined = np.concatenate((state.context, pcm))
        windows = np.lib.stride_tricks.sliding_window_view(joined, _CONTEXT + WINDOW)[::WINDOW]
        feed = {"input": np.ascontiguousarray(windows), "h": state.hidden, "c": state.cell}
        probabilities, hidden, cell = self._session.run(None, feed)
        return probabilities, VadState(hidden, cell, joined[-_CONTEXT:])


def speech_segments(probabilities: Sequence[float] | npt.NDArray[np.float32]) -> list[Span]:
    """Speech segments in windows, by two thresholds; short pauses are bridged, then short segments dropped.

    Each segment takes in the window before it and the one behind it, where a word's faint edges are.
    """
    joined: list[Span] = []
    for segment in _thresholded(probabilities):
        if joined and segment.start - joined[-1].end < _SHORTEST_PAUSE:
            segment = joined.pop().cover(segment)
        joined.append(segment)
    last = len(probabilities)
    return [
        Span(max(segment.start - 1, 0), min(segment.end + 1, last))
        for segment in joined
        if len(segment) >= _SHORTEST_SPEECH
    ]


def _thresholded(probabilities: Sequence[float] | npt.NDArray[np.float32]) -> Iterator[Span]:
    start: int | None = None
    for index, probability in enumerate(probabilities):
        if start is None and probability >= _SPEECH_STARTS:
            start = index
        elif start is not None and probability < _SPEECH_ENDS:
            yield Span(start, index)
            start = None
    if start is not None:
        yield Span(start, len(probabilities))
