"""The stream-in request kind: speak a text while it is still arriving."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial

from polyvox.engines.base import Engine, SupportsStreamingText
from polyvox.errors import SilentTextError, TextError
from polyvox.service.delivery import closing
from polyvox.service.kinds.joining import UtteranceJoiner
from polyvox.service.kinds.request_kind import max_speech_seconds
from polyvox.service.kinds.script_reader import tag_rules
from polyvox.service.pronunciation.arriving_pronunciation import ArrivingPronunciation
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.service.pronunciation.source_words import SourceWords
from polyvox.text.markup.inline_tags import cleaned
from polyvox.text.markup.script import Passage
from polyvox.text.segmentation.assembler import StreamSegment, TextAssembler
from polyvox.text.segmentation.surrogates import SurrogateJoiner
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, Span, Utterance

_PLACEHOLDER_TEXT = "a"
"""In place of the text, which is not known yet when the rest of a request is checked."""


_IDLE_SECONDS = 0.005
"""Wait for text after which the engine is idle: it has other work, and this time would count as its own."""


async def _at_once() -> None:
    """Nobody has to be asked."""


class SpeakStream:
    """Speak the concatenated pieces; may be synthesized once.

    An engine that supports it speaks along with the pieces; any other is given sentence by sentence, each as soon as it
    is known to be complete, the first one from its first clause on. How the text was cut into pieces does not change
    the audio, save where none came for `max_delay` seconds: then all is spoken that no further text can change. Markup
    that nobody obeys is dropped; the warnings are complete when the text is.
    """

    def __init__(
        self, pieces: AsyncIterator[str], max_chars: int, speed: float = 1.0, *, max_delay: float | None = None
    ) -> None:
        self._pieces = pieces
        self._max_chars = max_chars
        self._speed = speed
        self._max_delay = max_delay
        self.on_idle: Callable[[], None] = lambda: None
        """Told when the engine has nothing to do because text is missing."""
        self.on_text: Callable[[], Awaitable[None]] = _at_once
        """Awaited before it goes on."""
        self._chars = 0
        self.warnings = Warnings()
        self._pronunciation: Pronunciation | None = None

    @property
    def chars(self) -> int:
        return self._chars

    @property
    def max_audio_seconds(self) -> float:
        return max_speech_seconds(self._max_chars, self._speed)

    @staticmethod
    def tells_pace(engine: Engine) -> bool:
        """Return whether `on_idle` is told of every wait for text: not where the engine waits for it itself."""
        return not isinstance(engine, SupportsStreamingText)

    def check(self, engine: Engine, utterance: Utterance) -> None:
        engine.check(replace(utterance, text=_PLACEHOLDER_TEXT))

    async def pronounced(self, pronunciation: Pronunciation, engine: Engine, utterance: Utterance) -> "SpeakStream":
        """The same kind: its text is read as it comes."""
        self._pronunciation = pronunciation
        return self

    async def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncGenerator[AudioChunk]:
        async with aclosing(self._counted()) as pieces, aclosing(self._segments(pieces)) as segments:
            speech = (
                self._along(engine, engine, utterance, self._watched(engine, pieces))
                if isinstance(engine, SupportsStreamingText)
                else _by_segment(engine, utterance, segments, self.warnings, self._pronunciation)
            )
            async with closing(speech):
                async for chunk in speech:
                    yield chunk

    def _along(
        self, speaking: SupportsStreamingText, engine: Engine, utterance: Utterance, pieces: AsyncGenerator[str]
    ) -> AsyncIterator[AudioChunk]:
        """Yield the audio of an engine while it is given the text."""
        if self._pronunciation is None:
            return speaking.speak_stream(utterance, pieces)
        arriving = ArrivingPronunciation(self._pronunciation, engine, utterance, self.warnings)
        return _in_raw(speaking.speak_stream(utterance, arriving.rewritten(pieces)), arriving)

    async def _watched(self, engine: Engine, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """The pieces for an engine that reads their markup itself; its warnings are those of the whole."""
        text: list[str] = []
        async with aclosing(pieces):
            async for piece in pieces:
                text.append(piece)
                yield piece
        whole = TrackedText.of("".join(text))
        await asyncio.to_thread(cleaned, whole, tag_rules(engine), self.warnings)

    async def _segments(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[StreamSegment]:
        """The segments that hold anything to speak, for an engine that rests while none is there."""
        text = TextAssembler()
        async with aclosing(self._awaited(pieces)) as awaited:
            async for piece in awaited:
                for segment in text.release() if piece is None else text.push(piece):
                    if _speakable(segment):
                        yield segment
        for segment in text.finish():
            if _speakable(segment):
                yield segment

    async def _awaited(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str | None]:
        """The pieces; before one that is long in coming None, once."""
        while True:
            piece = asyncio.ensure_future(anext(pieces, None))
            try:
                if not await self._came(piece, self._max_delay):
                    yield None
                    await self._came(piece, None)
            finally:
                if not piece.done():
                    piece.cancel()
                    await asyncio.wait([piece])
            text = piece.result()
            if text is None:
                return
            yield text

    async def _came(self, piece: "asyncio.Future[str | None]", seconds: float | None) -> bool:
        """Return whether a piece came in time; the engine is idle meanwhile."""
        grace = _IDLE_SECONDS if seconds is None else min(_IDLE_SECONDS, seconds)
        await asyncio.wait([piece], timeout=grace)
        if not piece.done():
            self.on_idle()
            await asyncio.wait([piece], timeout=None if seconds is None else seconds - grace)
            await self.on_text()
        return piece.done()

    async def _counted(self) -> AsyncGenerator[str]:
        """The pieces in whole characters; `TextError` where they are too many."""
        surrogates = SurrogateJoiner()
        async with closing(self._pieces):
            async for piece in self._pieces:
                yield self._count(surrogates.push(piece))
        if rest := surrogates.finish():
            yield self._count(rest)

    def _count(self, piece: str) -> str:
        self._chars += len(piece)
        if self._chars > self._max_chars:
            raise TextError(
                f"The text has more than the {self._max_chars:,} characters that this server takes; send it in "
                "several requests.",
                field="input",
            )
        return piece


async def _in_raw(speech: AsyncIterator[AudioChunk], arriving: ArrivingPronunciation) -> AsyncGenerator[AudioChunk]:
    async with closing(speech):
        async for chunk in speech:
            yield arriving.in_raw(chunk)


async def _by_segment(
    engine: Engine,
    utterance: Utterance,
    segments: AsyncGenerator[StreamSegment],
    warnings: Warnings,
    pronunciation: Pronunciation | None,
) -> AsyncGenerator[AudioChunk]:
    """Speak each segment after the one before, as one utterance."""
    joiner, rules = UtteranceJoiner(), tag_rules(engine)
    async for part in segments:
        text = cleaned(TrackedText.of(part.text), rules, warnings)
        if pronunciation is not None:
            text = await pronunciation.rewrite(text, engine, utterance.language, utterance.voice, warnings)
        passage = Passage(text)
        if not passage.speakable:
            continue
        source = SourceWords.of_text(text, part.text)
        sentence = replace(utterance, text=passage.text.text)
        joiner.begin()
        with suppress(SilentTextError):
            async with aclosing(_spoken(engine, sentence)) as speech:
                async for chunk in speech:
                    yield joiner.append(chunk, partial(_in_whole, passage, part), source)


async def _spoken(engine: Engine, sentence: Utterance) -> AsyncGenerator[AudioChunk]:
    engine.check(sentence)
    speech = engine.speak(sentence)
    async with closing(speech):
        async for chunk in speech:
            yield chunk


def _in_whole(passage: Passage, segment: StreamSegment, span: Span) -> Span:
    return segment.in_whole(passage.in_whole(span))


def _speakable(part: StreamSegment) -> bool:
    return any(char.isalnum() for char in part.text)
