"""Streamed text on its way to the language model: phrases of ids, in passages that are spoken as one."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.engines.cosyvoice.frontend.frontend import HARD_LIMIT, MIN_SEGMENT, CosyVoiceFrontend
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer
from polyvox.engines.cosyvoice.synthesis import ChunkText
from polyvox.text.segmentation.assembler import StreamSegment, TextAssembler
from polyvox.types import NormalizationOptions, Span

_MAX_CHARS: Final = 160
_WITHOUT_SPACE: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Ids of text, what the caller wrote for them and its span; the last phrase of a passage `closes` it."""

    ids: tuple[int, ...]
    text: str
    span: Span
    closes: bool


class StreamingFrontend:
    """The text of one utterance while it streams in. The phrases depend on the whole text, never on how it was sent.

    A passage is closed at the end of a sentence once it is long enough to be spoken by itself.
    """

    def __init__(
        self,
        frontend: CosyVoiceFrontend,
        tokenizer: TextTokenizer | WhisperTokenizer,
        options: NormalizationOptions,
        language: str | None,
    ) -> None:
        self._frontend = frontend
        self._tokenizer = tokenizer
        self._options = options
        self._language = language
        self._assembler = TextAssembler(max_chars=_MAX_CHARS, phrases=True)
        self._reached = 0
        self._size = 0
        self._before = ""

    def push(self, text: str) -> list[Phrase]:
        """Add text and return the phrases that it completes."""
        return [phrase for segment in self._assembler.push(text) for phrase in self._phrases(segment)]

    def finish(self) -> list[Phrase]:
        """The phrases of what is left."""
        return [phrase for segment in self._assembler.finish() for phrase in self._phrases(segment)]

    def _phrases(self, segment: StreamSegment) -> Iterator[Phrase]:
        apart = segment.start > self._reached
        self._reached = segment.end
        span = Span(segment.start, segment.end)
        parts = self._frontend.phrase(segment.text, self._options, self._language, ends=segment.ends_sentence)
        for index, part in enumerate(parts):
            size = self._frontend.length(part.text)
            if self._size and self._size + size > HARD_LIMIT:
                yield self._closing(span)
            ids = tuple(self._tokenizer.encode(self._glue(part.text, apart=apart or index > 0) + part.text))
            self._size += size
            closes = segment.ends_sentence and index == len(parts) - 1 and self._size >= MIN_SEGMENT
            self._size, self._before = (0, "") if closes else (self._size, part.text[-1:])
            yield Phrase(ids, f"{' ' if apart else ''}{segment.text}" if index == 0 else "", span, closes)

    def _closing(self, span: Span) -> Phrase:
        """The end of a passage that grows too long."""
        self._size, self._before = 0, ""
        return Phrase((), "", Span(span.start, span.start), closes=True)

    def _glue(self, text: str, *, apart: bool) -> str:
        """The space between two phrases, where their writing system has one."""
        if not self._before or not apart:
            return ""
        return "" if _WITHOUT_SPACE.match(self._before) or _WITHOUT_SPACE.match(text) else " "


class Passages:
    """Groups phrases into passages."""

    def __init__(self, phrases: AsyncIterator[Phrase]) -> None:
        self._phrases = phrases
        self._next: Phrase | None = None
        self._words: list[str] = []
        self._span: Span | None = None

    async def peek(self) -> Phrase | None:
        """The next phrase, which stays the next; None behind the last."""
        if self._next is None:
            self._next = await anext(self._phrases, None)
        return self._next

    async def passage(self) -> AsyncGenerator[tuple[int, ...]]:
        """The ids of the next passage."""
        self._words, self._span, closed = [], None, False
        while not closed and (phrase := await self.peek()) is not None:
            self._next, closed = None, phrase.closes
            self._words.append(phrase.text)
            self._span = phrase.span if self._span is None else self._span.cover(phrase.span)
            yield phrase.ids

    @property
    def wording(self) -> ChunkText:
        """The caller's text of the passage so far, runs of white space as one space."""
        return ChunkText("".join(self._words).strip(), self._span)
