"""The course of a dialogue: its scenes, each an utterance of its own to the engine, put behind each other as one."""

from dataclasses import dataclass, replace

from polyvox.audio.pcm import silence
from polyvox.engines.base import Engine
from polyvox.errors import TextError
from polyvox.service.scenes import Scene
from polyvox.types import AudioChunk, Span, WordTiming


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in the whole: so many samples, tokens and frames lie before it."""

    samples: int = 0
    tokens: int = 0
    frames: int = 0

    def behind(self, chunk: AudioChunk) -> "_Mark":
        tokens = self.tokens if chunk.tokens is None else chunk.tokens.end
        return _Mark(chunk.end, tokens, self.frames if chunk.frames is None else chunk.frames.end)


class Course:
    """How far a dialogue has come."""

    def __init__(self, engine: Engine, text: str) -> None:
        self._engine = engine
        self._text = text
        self._index = 0
        self._begun = self._now = _Mark()

    def silence(self, seconds: float) -> AudioChunk:
        """A pause between two scenes."""
        can = self._engine.capabilities
        return self._passed(
            AudioChunk(
                pcm=silence(seconds, can.sample_rate, can.channels),
                sample_rate=can.sample_rate,
                index=self._index,
                start=self._now.samples,
            )
        )

    def begin(self) -> None:
        """A scene begins here: its chunks count from this place."""
        self._begun = self._now

    def placed(self, chunk: AudioChunk, scene: Scene) -> AudioChunk:
        """A chunk of the present scene as one of the whole."""
        span = None if chunk.span is None else scene.in_whole(chunk.span)
        text = chunk.text
        if len(scene.places) > 1:
            text = "" if span is None else self._text[span.start : span.end]
        seconds = self._begun.samples / chunk.sample_rate
        return self._passed(
            replace(
                chunk,
                index=self._index,
                start=self._begun.samples + chunk.start,
                text=text,
                span=span,
                words=tuple(_later(word, scene, seconds) for word in chunk.words),
                tokens=_moved(chunk.tokens, self._begun.tokens),
                frames=_moved(chunk.frames, self._begun.frames),
            )
        )

    def end(self) -> None:
        """The present scene is over; it has been heard, or there was nothing in it to hear."""
        if self._now.samples == self._begun.samples:
            raise TextError("Nothing in the turn can be spoken; send words.", field="input")

    def _passed(self, chunk: AudioChunk) -> AudioChunk:
        self._index += 1
        self._now = self._now.behind(chunk)
        return chunk


def _later(word: WordTiming, scene: Scene, seconds: float) -> WordTiming:
    return replace(word, start=word.start + seconds, end=word.end + seconds, span=scene.in_whole(word.span))


def _moved(span: Span | None, by: int) -> Span | None:
    return None if span is None else Span(span.start + by, span.end + by)
