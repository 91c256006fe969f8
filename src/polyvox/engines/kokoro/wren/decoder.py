"""Wren on ONNX Runtime: an utterance's plan to its samples, piece by piece.

Pieces equal the whole up to rounding: every layer keeps what its next rows need, and nothing is computed twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.wren.overlap import OverlapAdd, Spectra, hann, inverse_spectra, windows
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.engines.kokoro.wren.source import HOP, VOICED_ABOVE_HZ, SourceFilter, phase_cycles
from polyvox.runtime.executors.ort import OrtGraph
from polyvox.types import Pcm, Span

Array = npt.NDArray[np.float32]

_REACH = 3
"""Rows on either side that a block's convolution sees."""
_SPREAD_FRAMES = 192
_REFERENCE_PITCH, _LOWEST_PITCH, _ENERGY_SCALE = 150.0, 20.0, 5.0
_REFINER_HOP, _REFINER_FFT, _PER_FRAME = 100, 400, 3
_REFINER_EDGE = (_REFINER_FFT - _REFINER_HOP) // 2
_WINDOW_POWER, _TINY = 1.5, 1e-8
_NOISE_SEED = 7
USUAL_SAMPLES = 480_000
"""Noise that is kept: every utterance has the same, and few are longer."""


@dataclass(frozen=True, slots=True)
class _Graphs:
    plan: OrtGraph
    filters: OrtGraph
    refiner: OrtGraph


class WrenDecoder:
    """The three graphs, shared by all utterances. The same plan gives the same samples."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._graphs = _Graphs(*(OrtGraph(folder / f"{name}.onnx", threads) for name in ("plan", "filters", "refiner")))
        self._noise = normal_noise(USUAL_SAMPLES)

    def start(
        self, plan: UtterancePlan, noise: Pcm | None = None, *, within: Span | None = None
    ) -> "DecodingUtterance":
        """Begin an utterance; without noise, a standard normal one of its own.

        Frames that are not `within` are not decoded, and silent.
        """
        if noise is None:
            length = len(plan.pitch) * HOP
            noise = self._noise[:length] if length <= USUAL_SAMPLES else normal_noise(length)
        return DecodingUtterance(self._graphs, plan, noise, within or Span(0, len(plan.pitch)))

    def decode(self, plan: UtterancePlan, *, within: Span | None = None) -> Pcm:
        """All samples of an utterance."""
        return self.start(plan, within=within).advance(len(plan.pitch))


class DecodingUtterance:
    """One utterance on its way through the decoder."""

    def __init__(self, graphs: _Graphs, plan: UtterancePlan, noise: Pcm, within: Span) -> None:
        self._frames = len(within)
        phase = phase_cycles(plan.pitch)
        inputs = {
            "text": plan.text[np.newaxis],
            "curves": _curves(plan, phase)[np.newaxis],
            "style": plan.style[np.newaxis],
            "utterance": _spread_frames(plan),
        }
        rows, film, refiner_film = graphs.plan.run(("hidden", "film", "refiner_film"), inputs)
        part, samples = slice(within.start, within.end), slice(within.start * HOP, within.end * HOP)
        self._rows = rows[part]
        self._filters = _BlockStream(graphs.filters, film, ("hidden", "filters"))
        self._source = SourceFilter(plan.pitch[part], phase[part], noise[samples])
        self._refiner = _Refiner(graphs.refiner, refiner_film, self._frames)
        self._fed = self._emitted = 0
        self._before = np.zeros(within.start * HOP, np.float32)
        self._after = np.zeros((len(plan.pitch) - within.end) * HOP, np.float32)
        self.lookahead = self._filters.delay + self._refiner.lookahead + 2
        """Frames to advance before the first sample comes."""

    @property
    def done(self) -> bool:
        return self._fed == self._frames

    def pieces(self, frames: int) -> Iterator[Pcm]:
        """All samples, about so many frames at a time."""
        yield self.advance(self.lookahead + frames)
        while not self.done:
            yield self.advance(frames)

    def advance(self, frames: int) -> Pcm:
        """Decode so many more frames, the first time more than `lookahead`; gives the samples that are final then."""
        start, self._fed = self._fed, min(self._fed + frames, self._frames)
        hidden, filters = self._filters.run({"rows": self._rows[start : self._fed]}, last=self.done)
        self._source.add(filters)
        self._refiner.add(self._source, hidden, last=self.done)
        start, self._emitted = self._emitted, self._refiner.final
        before, self._before = self._before, self._before[:0]
        after = self._after if self.done else self._after[:0]
        return np.concatenate((before, self._refiner.samples(start, self._emitted), after))


class _BlockStream:
    """A graph of blocks with their state."""

    def __init__(self, graph: OrtGraph, film: Array, outputs: tuple[str, ...]) -> None:
        self._graph, self._film, self._outputs = graph, film, outputs
        blocks, _, self._width = film.shape
        self._state: Array = np.zeros((blocks, _REACH, self._width), np.float32)
        self.delay = blocks * _REACH

    def run(self, inputs: dict[str, npt.NDArray[Any]], *, last: bool) -> list[Array]:
        tail = np.zeros((_REACH if last else 0, self._width), np.float32)
        given = {**inputs, "film": self._film, "state": self._state, "tail": tail}
        *results, self._state = self._graph.run((*self._outputs, "next_state"), given)
        return results


class _Refiner:
    """Corrects short spectra of the source-filter signal."""

    def __init__(self, graph: OrtGraph, film: Array, frames: int) -> None:
        self._stream = _BlockStream(graph, film, ("corrections",))
        self._frames = frames
        self._signal = OverlapAdd(frames * _PER_FRAME, _REFINER_HOP, _REFINER_FFT, _REFINER_EDGE, frames * HOP)
        self._hidden = np.zeros((0, 0), np.float32)
        self._compressed = np.zeros((0, 2, _REFINER_FFT // 2 + 1), np.float32)
        self._seen = 0
        self.lookahead = -(-(self._stream.delay + 2) // _PER_FRAME)

    @property
    def final(self) -> int:
        return self._signal.final

    def samples(self, start: int, end: int) -> Pcm:
        return self._signal.samples(start, end)

    def add(self, source: SourceFilter, hidden: Array, *, last: bool) -> None:
        """Correct what has become final of the source; `hidden` are the states of the next frames."""
        self._hidden = np.concatenate((self._hidden, hidden)) if self._hidden.size else hidden
        end = self._frames if last else max(0, (source.final - _REFINER_EDGE) // HOP)
        if end <= self._seen:
            return
        count, spectra = end - self._seen, _compress(self._analyse(source, self._seen, end))
        inputs = {"spectra": spectra.reshape(len(spectra), -1), "hidden": self._hidden[:count]}
        (corrections,) = self._stream.run(inputs, last=last)
        self._compressed = np.concatenate((self._compressed, spectra))
        self._seen, self._hidden = end, self._hidden[count:]
        due, self._compressed = self._compressed[: len(corrections)], self._compressed[len(corrections) :]
        frames = inverse_spectra(_correct(due, corrections.reshape(len(corrections), 4, -1)), _REFINER_FFT)
        frames *= hann(_REFINER_FFT) / np.float32(_WINDOW_POWER)
        self._signal.add(frames)

    def _analyse(self, source: SourceFilter, start: int, end: int) -> Spectra:
        """Spectra of frames `start` to `end`; outside of the utterance there is silence."""
        first, after = start * HOP - _REFINER_EDGE, end * HOP + _REFINER_EDGE
        inside = source.samples(max(0, first), min(after, self._frames * HOP))
        padded = np.zeros(after - first, np.float32)
        padded[max(0, -first) :][: len(inside)] = inside
        frames = windows(padded, 0, _REFINER_FFT, _REFINER_HOP, 0, (end - start) * _PER_FRAME)
        spectra: Spectra = np.fft.rfft(frames * hann(_REFINER_FFT))
        return spectra


def normal_noise(length: int) -> Pcm:
    """The first samples of one sequence."""
    return np.random.Generator(np.random.Philox(_NOISE_SEED)).standard_normal(length, np.float32)


def _compress(spectra: Spectra) -> Array:
    """Spectra divided by the root of their magnitudes, real over imaginary parts [spectra, 2, bins]."""
    real, imaginary = spectra.real, spectra.imag
    root = np.square(real)
    root += np.square(imaginary)
    root += np.float32(_TINY)
    np.sqrt(np.sqrt(root, out=root), out=root)
    compressed = np.empty((len(spectra), 2, spectra.shape[1]), np.float32)
    np.divide(real, root, out=compressed[:, 0])
    np.divide(imaginary, root, out=compressed[:, 1])
    return compressed


def _correct(compressed: Array, corrections: Array) -> Spectra:
    """Multiply by a complex number near 1, add another, and expand to complex spectra."""
    parts = compressed[:, 0], compressed[:, 1]
    scaled, turned = corrections[:, 0] + np.float32(1), corrections[:, 1]
    new_real = parts[0] * scaled
    new_real -= parts[1] * turned
    new_real += corrections[:, 2]
    new_imaginary = np.multiply(parts[1], scaled, out=scaled)
    new_imaginary += parts[0] * turned
    new_imaginary += corrections[:, 3]
    magnitude = np.square(new_real)
    magnitude += np.square(new_imaginary)
    magnitude += np.float32(_TINY)
    np.sqrt(magnitude, out=magnitude)
    out = np.empty(magnitude.shape, np.complex64)
    np.multiply(new_real, magnitude, out=out.real)
    np.multiply(new_imaginary, magnitude, out=out.imag)
    return out


def _curves(plan: UtterancePlan, phase: Array) -> Array:
    """Log-pitch, voicing, energy and phase of each frame [5, frames]."""
    voiced = (plan.pitch > VOICED_ABOVE_HZ).astype(np.float32)
    log_pitch = np.log(np.maximum(plan.pitch, _LOWEST_PITCH) / np.float32(_REFERENCE_PITCH))
    angle = np.float32(2 * np.pi) * phase
    rows = (log_pitch * voiced, voiced, plan.energy / _ENERGY_SCALE, np.cos(angle) * voiced, np.sin(angle) * voiced)
    return np.stack(rows).astype(np.float32)


def _spread_frames(plan: UtterancePlan) -> Array:
    """Frames evenly spread over the utterance, with its length: what the utterance encoder sees of it."""
    count = plan.text.shape[1]
    position = (np.arange(_SPREAD_FRAMES, dtype=np.float32) + np.float32(0.5)) / np.float32(_SPREAD_FRAMES)
    chosen = (position * np.float32(count)).astype(np.int64)
    pitch, energy = (curve.reshape(count, 2)[chosen] for curve in (plan.pitch, plan.energy))
    voiced = (pitch > VOICED_ABOVE_HZ).astype(np.float32)
    log_pitch = np.log(np.maximum(pitch, VOICED_ABOVE_HZ) / _REFERENCE_PITCH) * voiced
    duration = np.full((_SPREAD_FRAMES, 1), np.log(count / _SPREAD_FRAMES))
    columns = (plan.text.T[chosen], log_pitch, voiced, energy / _ENERGY_SCALE, duration)
    return np.concatenate(columns, axis=1).astype(np.float32)
