"""Post-processing of an engine's audio for the caller: tempo, sample rate, loudness, volume, watermark."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import structlog

from polyvox.audio.limiter import StreamLimiter
from polyvox.audio.loudness import StreamLoudness
from polyvox.audio.pcm import scale, silence
from polyvox.audio.resample import StreamResampler
from polyvox.audio.stretch import StreamTempo
from polyvox.errors import BrokenAudioError
from polyvox.provenance.watermark import Watermarker
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.types import AudioChunk, Pcm, Span, WordTiming

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

PEAK_DBFS = -1.0
"""Ceiling of the limiter where the volume is raised."""


class _Step(Protocol):
    def push(self, pcm: Pcm) -> Pcm: ...

    def finish(self) -> Pcm: ...


@dataclass(frozen=True, slots=True)
class _Volume:
    gain: float
    channels: int

    def push(self, pcm: Pcm) -> Pcm:
        return scale(pcm, self.gain)

    def finish(self) -> Pcm:
        return silence(0, 1, self.channels)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The audio format a caller asked for and the one the engine produces; `tempo` is 1 if the engine handles speed."""

    source_rate: int
    sample_rate: int
    channels: int = 1
    tempo: float = 1.0
    loudness: float | None = None
    volume: float = 1.0
    watermark: Watermarker | None = None

    @property
    def is_direct(self) -> bool:
        """True if chunks pass through unchanged."""
        same_rate = self.sample_rate == self.source_rate
        same_sound = self.tempo == 1.0 and self.loudness is None and self.volume == 1.0
        return same_rate and same_sound and self.watermark is None

    async def process(
        self, source: AsyncIterator[AudioChunk], executor: DeviceExecutor
    ) -> AsyncGenerator[AudioChunk, None]:
        """The source's chunks as the caller wants them, processed off the loop; closing this closes the source.

        Some steps hold samples back: the chunk boundaries then lie a little earlier in the speech than the engine's,
        and the rest comes as one more chunk at the end.
        """
        async with closing(source):
            if self.is_direct:
                async for chunk in source:
                    yield _finite(chunk)
                return
            pipeline = await executor.run(partial(_Pipeline, self))
            async for chunk in source:
                processed = await executor.run(partial(pipeline.push, _finite(chunk)))
                if processed is not None:
                    yield processed
            rest = await executor.run(pipeline.finish)
            if rest is not None:
                yield rest


def _finite(chunk: AudioChunk) -> AudioChunk:
    """The chunk; BrokenAudioError where its samples are not finite, of which encoders would make noise."""
    if not np.isfinite(chunk.pcm).all():
        log.error("broken audio", chunk=chunk.index, samples=(chunk.start, chunk.end), text=chunk.text[:80])
        raise BrokenAudioError("The model made samples that are not finite; try again, or with other words.")
    return chunk


class _Pipeline:
    """The processing steps of one utterance, and the position of its output."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._steps = _steps(delivery)
        self._index = 0
        self._samples = 0
        self._held: AudioChunk | None = None

    def push(self, chunk: AudioChunk) -> AudioChunk | None:
        """The processed chunk, or None while all samples are held back: its words then go with the next."""
        pcm = chunk.pcm
        for step in self._steps:
            pcm = step.push(pcm)
        tempo = self._delivery.tempo
        words = tuple(_at_tempo(word, tempo) for word in chunk.words)
        marks = tuple(replace(mark, time=mark.time / tempo) for mark in chunk.marks)
        return self._out(replace(chunk, pcm=pcm, words=words, marks=marks))

    def finish(self) -> AudioChunk | None:
        """The samples still held back, if any."""
        rest = silence(0, self._delivery.sample_rate, self._delivery.channels)
        for step in self._steps:
            rest = np.concatenate((step.push(rest), step.finish()))
        last = AudioChunk(pcm=rest, sample_rate=self._delivery.sample_rate, index=0, start=0)
        return self._out(last, last=True)

    def _out(self, chunk: AudioChunk, *, last: bool = False) -> AudioChunk | None:
        if self._held is not None:
            chunk = _joined(self._held, chunk)
            self._held = None
        if not len(chunk.pcm) and not (last and (chunk.words or chunk.marks)):
            self._held = chunk
            return None
        placed = replace(chunk, sample_rate=self._delivery.sample_rate, index=self._index, start=self._samples)
        self._index += 1
        self._samples = placed.end
        return placed


def _steps(delivery: Delivery) -> tuple[_Step, ...]:
    steps: list[_Step] = []
    if delivery.tempo != 1.0:
        steps.append(StreamTempo(delivery.tempo, delivery.source_rate, delivery.channels))
    if delivery.sample_rate != delivery.source_rate:
        steps.append(StreamResampler(delivery.source_rate, delivery.sample_rate, delivery.channels))
    if delivery.loudness is not None:
        steps.append(StreamLoudness(delivery.loudness, delivery.sample_rate, delivery.channels))
    if delivery.volume != 1.0:
        steps.append(_Volume(delivery.volume, delivery.channels))
    if delivery.volume > 1.0:
        steps.append(StreamLimiter(PEAK_DBFS, delivery.sample_rate, delivery.channels))
    if delivery.watermark is not None:
        steps.append(delivery.watermark.stream(delivery.sample_rate, delivery.channels))
    return tuple(steps)


def _at_tempo(word: WordTiming, tempo: float) -> WordTiming:
    return replace(word, start=word.start / tempo, end=word.end / tempo)


def _joined(earlier: AudioChunk, later: AudioChunk) -> AudioChunk:
    """The later chunk with the metadata of an earlier one that has no samples."""
    return replace(
        later,
        text=earlier.text + later.text,
        words=earlier.words + later.words,
        marks=earlier.marks + later.marks,
        voice=later.voice or earlier.voice,
        span=_both(earlier.span, later.span),
        tokens=_both(earlier.tokens, later.tokens),
        frames=_both(earlier.frames, later.frames),
        wall_seconds=earlier.wall_seconds + later.wall_seconds,
        device_seconds=earlier.device_seconds + later.device_seconds,
        stages=earlier.stages + later.stages,
    )


def _both(one: Span | None, other: Span | None) -> Span | None:
    if one is None or other is None:
        return other if one is None else one
    return one.cover(other)


@asynccontextmanager
async def closing(source: AsyncIterator[object]) -> AsyncGenerator[None, None]:
    """Close an async generator on the way out; other iterators need no closing."""
    try:
        yield
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()
