"""Text that arrives in fragments, as phrases of ids in passages that are spoken as one."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from functools import partial

from polyvox.engines.qwen3tts.bundle import TextEncoder
from polyvox.engines.qwen3tts.synthesis import Passage
from polyvox.engines.qwen3tts.variants import LANGUAGES
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.text.detect import detect_language
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.segmentation.assembler import StreamSegment, TextAssembler
from polyvox.types import Span, Utterance

_MAX_CHARS = 160
_MAX_IDS = 400
"""Ids behind which a sentence without an end is spoken in parts."""
_WHITE = re.compile(r"\s+")
_WITHOUT_SPACE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class _Phrase:
    ids: tuple[int, ...]
    text: str
    span: Span
    closes: bool
    """True for the last phrase of a passage."""


class ArrivingText:
    """The text of one utterance while it arrives. The phrases depend on the whole text, never on how it was sent."""

    def __init__(
        self, frontend: GraphemeFrontend, encoder: TextEncoder, thread: DeviceExecutor, utterance: Utterance
    ) -> None:
        self._frontend, self._encoder, self._thread, self._utterance = frontend, encoder, thread, utterance
        self._language = utterance.language
        """Of the utterance, else of its first phrase."""
        self._before, self._reached, self._size = "", 0, 0
        self._words: list[str] = []
        self._span: Span | None = None

    @property
    def wording(self) -> Passage:
        """The passage so far, as the caller wrote it."""
        return Passage((), "".join(self._words).strip(), self._span)

    async def passages(self, pieces: AsyncIterator[str]) -> AsyncGenerator[AsyncIterator[tuple[int, ...]]]:
        """A sentence at a time: the ids of its phrases. Each must be read to its end before the next."""
        phrases = self._phrases(pieces)
        while (first := await anext(phrases, None)) is not None:
            yield self._passage(first, phrases)

    async def _passage(self, first: _Phrase, phrases: AsyncIterator[_Phrase]) -> AsyncIterator[tuple[int, ...]]:
        self._words, self._span = [], None
        phrase: _Phrase | None = first
        while phrase is not None:
            self._words.append(phrase.text)
            self._span = phrase.span if self._span is None else self._span.cover(phrase.span)
            yield phrase.ids
            phrase = None if phrase.closes else await anext(phrases, None)

    async def _phrases(self, pieces: AsyncIterator[str]) -> AsyncGenerator[_Phrase]:
        assembler = TextAssembler(max_chars=_MAX_CHARS, phrases=True)
        async for piece in pieces:
            for phrase in await self._thread.run(partial(self._read, assembler, piece)):
                yield phrase
        for phrase in await self._thread.run(partial(self._read, assembler, None)):
            yield phrase

    def _read(self, assembler: TextAssembler, piece: str | None) -> list[_Phrase]:
        """The phrases that a piece completes; None ends the text."""
        segments = assembler.finish() if piece is None else assembler.push(piece)
        return [phrase for segment in segments if (phrase := self._phrase(segment)) is not None]

    def _phrase(self, segment: StreamSegment) -> _Phrase | None:
        self._language = self._language or detect_language(segment.text, LANGUAGES)
        blocks = self._frontend.normalized_blocks(segment.text, self._utterance.normalization, self._language)
        text = _WHITE.sub(" ", " ".join(blocks)).strip()
        if not text:
            return None
        glue = self._glue(text) if segment.start > self._reached else ""
        self._reached = segment.end
        ids = self._encoder.encode(glue + text)
        self._size += len(ids)
        closes = segment.ends_sentence or self._size > _MAX_IDS
        self._before, self._size = ("", 0) if closes else (text[-1], self._size)
        return _Phrase(ids, glue + segment.text, Span(segment.start, segment.end), closes)

    def _glue(self, text: str) -> str:
        """The space between two phrases, where their writing system has one."""
        return "" if not self._before or _WITHOUT_SPACE.match(self._before) or _WITHOUT_SPACE.match(text) else " "
