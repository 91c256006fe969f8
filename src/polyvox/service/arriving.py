"""Speaking a text while it is still arriving."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from polyvox.engines.base import Engine, Reading
from polyvox.errors import TextError
from polyvox.service.act import longest_speech
from polyvox.service.delivery import closing
from polyvox.service.sequel import Sequel
from polyvox.text.streaming import StreamSegment, StreamSplitter
from polyvox.types import AudioChunk, Utterance

_ANY_TEXT = "a"
"""Stands for the text that nobody knows yet when the rest of a request is checked."""


class Arriving:
    """An act: the pieces, put together, are the text. It may be performed once.

    An engine that can speaks along with the pieces; another is given sentence by sentence, each as soon as it is known
    to be complete. How the text was cut into pieces does not change what is heard.
    """

    def __init__(self, pieces: AsyncIterator[str], max_chars: int, speed: float = 1.0) -> None:
        self._pieces = pieces
        self._max_chars = max_chars
        self._speed = speed
        self._chars = 0

    @property
    def chars(self) -> int:
        return self._chars

    @property
    def longest(self) -> float:
        return longest_speech(self._max_chars, self._speed)

    def check(self, engine: Engine, utterance: Utterance) -> None:
        engine.check(replace(utterance, text=_ANY_TEXT))

    async def perform(self, engine: Engine, utterance: Utterance) -> AsyncGenerator[AudioChunk]:
        async with aclosing(self._counted()) as pieces:
            speech = (
                engine.read(utterance, pieces) if isinstance(engine, Reading) else _by_part(engine, utterance, pieces)
            )
            async with closing(speech):
                async for chunk in speech:
                    yield chunk

    async def _counted(self) -> AsyncGenerator[str]:
        async with closing(self._pieces):
            async for piece in self._pieces:
                self._chars += len(piece)
                if self._chars > self._max_chars:
                    raise TextError(
                        f"The text has more than the {self._max_chars:,} characters that this server takes; send it in "
                        "several requests.",
                        field="input",
                    )
                yield piece


async def _by_part(engine: Engine, utterance: Utterance, pieces: AsyncGenerator[str]) -> AsyncGenerator[AudioChunk]:
    """The speech of each sentence behind that of the one before, as one utterance."""
    sequel = Sequel()
    async with aclosing(_parts(pieces)) as parts:
        async for part in parts:
            sentence = replace(utterance, text=part.text)
            engine.check(sentence)
            sequel.begin()
            speech = engine.speak(sentence)
            async with closing(speech):
                async for chunk in speech:
                    yield sequel.placed(chunk, part.in_whole)


async def _parts(pieces: AsyncGenerator[str]) -> AsyncGenerator[StreamSegment]:
    """The sentences that have anything in them to be spoken."""
    text = StreamSplitter()
    async for piece in pieces:
        for part in text.push(piece):
            if _speakable(part):
                yield part
    for part in text.finish():
        if _speakable(part):
            yield part


def _speakable(part: StreamSegment) -> bool:
    return any(char.isalnum() for char in part.text)
