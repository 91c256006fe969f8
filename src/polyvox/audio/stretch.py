"""Time stretching of a stream: another tempo at the same pitch."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from polyvox.audio.pcm import check_channels, check_rate, shaped, silence
from polyvox.errors import InvalidRequestError
from polyvox.types import SPEED_RANGE, Pcm

if TYPE_CHECKING:
    from av.filter import Graph

# Long enough to push the last real sample out of two filters in a row, at any speed.
_FLUSH_SECONDS = 0.5
_BLOCK_SECONDS = 0.02
# The filter's output runs ahead of its input by about this much, whatever the speed; silence in front makes up for it.
_LEAD_SECONDS = 0.007


class StreamTempo:
    """Changes the tempo of one stream; `n` samples in give `n / speed`, rounded, out.

    The filter is fed blocks of a fixed length: its output would otherwise depend on how the caller cut the input, and
    it fails on a frame too short to yield one sample. It never releases its last window, so silence is fed at the end
    and the output is cut where the speech ends.
    """

    def __init__(self, speed: float, sample_rate: int, channels: int = 1) -> None:
        if speed not in SPEED_RANGE:
            raise InvalidRequestError(
                f"speed must lie between {SPEED_RANGE.lowest} and {SPEED_RANGE.highest}, not {speed}.", field="speed"
            )
        self._speed = speed
        self._rate = check_rate(sample_rate)
        self._channels = check_channels(channels)
        self._block = round(_BLOCK_SECONDS * sample_rate)
        self._graph = None if speed == 1.0 else _tempo_graph(speed, sample_rate, self._layout)
        self._pending = silence(_LEAD_SECONDS, sample_rate, channels)
        self._stretched = shaped(np.zeros(0, np.float32), channels)
        self._taken = self._fed = self._given = 0

    @property
    def _layout(self) -> str:
        return "mono" if self._channels == 1 else "stereo"

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the output that is ready."""
        samples = shaped(pcm, self._channels)
        if self._graph is None:
            return samples
        self._taken += len(samples)
        self._feed(samples)
        return self._released()

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""
        if self._graph is None:
            return self._stretched
        self._feed(silence(_FLUSH_SECONDS, self._rate, self._channels))
        rest = self._released()
        self._graph, self._stretched = None, self._stretched[:0]
        return rest

    def _feed(self, samples: Pcm) -> None:
        waiting = np.concatenate([self._pending, samples])
        whole = len(waiting) // self._block * self._block
        outputs = [self._stretched]
        for start in range(0, whole, self._block):
            outputs += self._filtered(waiting[start : start + self._block])
        self._stretched = np.concatenate(outputs)
        self._pending = waiting[whole:]

    def _filtered(self, block: Pcm) -> list[Pcm]:
        import av

        assert self._graph is not None
        frame = av.AudioFrame.from_ndarray(block.reshape(1, -1), "flt", self._layout)
        frame.sample_rate = self._rate
        frame.time_base = Fraction(1, self._rate)
        frame.pts = self._fed
        self._fed += len(block)
        self._graph.push(frame)
        outputs: list[Pcm] = []
        while True:
            try:
                pulled = self._graph.pull()
            except av.BlockingIOError:
                return outputs
            assert isinstance(pulled, av.AudioFrame)
            samples = np.asarray(pulled.to_ndarray(), np.float32)
            outputs.append(samples.reshape(-1, *block.shape[1:]))

    def _released(self) -> Pcm:
        """Release what is ready, but never more than the input so far accounts for."""
        due = min(len(self._stretched), round(self._taken / self._speed) - self._given)
        ready, self._stretched = self._stretched[:due], self._stretched[due:]
        self._given += due
        return ready


def _tempo_graph(speed: float, rate: int, layout: str) -> "Graph":
    """One filter from half to double speed; beyond, where it could not or would skip samples, two in a row."""
    from av.filter import Graph  # FFmpeg takes long to load, and engines with a tempo of their own need none

    factors = (speed,) if 0.5 <= speed <= 2.0 else (speed**0.5, speed**0.5)
    graph = Graph()
    source = graph.add_abuffer(sample_rate=rate, format="flt", layout=layout, time_base=Fraction(1, rate))
    tempos = [graph.add("atempo", f"{factor:.9f}") for factor in factors]
    graph.link_nodes(source, *tempos, graph.add("abuffersink")).configure()
    return graph
