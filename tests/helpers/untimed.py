"""Engines that do not time their words, as those that clone voices."""

from collections.abc import AsyncIterator
from dataclasses import replace

from helpers.fakes import PlainToneEngine
from polyvox.engines.base import Engine
from polyvox.types import AudioChunk, Capabilities, Span, Utterance, WordTiming


class UntimedToneEngine(PlainToneEngine):
    """A tone engine without word timings; the first chunk carries all of the text, as a segment of CosyVoice's does."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, word_timings=False)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            text = utterance.text if chunk.index == 0 else ""
            yield replace(chunk, words=(), text=text, span=Span(0, len(text)) if text else None)


class UntimedStreamEngine(UntimedToneEngine):
    """One that speaks along with the text: each passage is a chunk, and its text is known at its end."""

    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        index = start = end = 0
        async for piece in pieces:
            whole = replace(utterance, text=piece)
            async for chunk in PlainToneEngine.speak(self, whole):
                last = chunk.index == self.chunks - 1
                span = Span(end, end + len(piece)) if last else None
                yield replace(chunk, words=(), text=piece if last else "", span=span, index=index, start=start)
                index, start = index + 1, start + len(chunk.pcm)
            end += len(piece)


class Untimed:
    """Another engine without its word timings, which it keeps as `truth`; its chunks are cut into short ones."""

    def __init__(self, engine: Engine, chunk_seconds: float = 1.0) -> None:
        self.name = engine.name
        self.voices = engine.voices
        self.capabilities = replace(engine.capabilities, word_timings=False)
        self.truth: list[WordTiming] = []
        self.start, self.close, self.check, self.prepare = engine.start, engine.close, engine.check, engine.prepare
        self._engine = engine
        self._size = int(chunk_seconds * engine.capabilities.sample_rate)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        self.truth, index = [], 0
        async for chunk in self._engine.speak(utterance):
            self.truth += chunk.words
            for at in range(0, len(chunk.pcm), self._size):
                text, span = (chunk.text, chunk.span) if at == 0 else ("", None)
                pcm = chunk.pcm[at : at + self._size]
                yield AudioChunk(pcm, chunk.sample_rate, index, chunk.start + at, text, span)
                index += 1
