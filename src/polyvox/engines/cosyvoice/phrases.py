"""Arriving text on its way to the language model: phrases of ids, in passages that are spoken as one."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.engines.cosyvoice.synthesis import ChunkText
from polyvox.engines.cosyvoice.tags import LONGEST_CONTROL, Tags
from polyvox.engines.cosyvoice.text import HARDEST, SHORTEST_TO_CUT, Script
from polyvox.engines.cosyvoice.tokenizer import TextTokenizer
from polyvox.text.arriving import ArrivingText, Part
from polyvox.types import NormalizationOptions, Span

_LONGEST_CHARS: Final = 160
_WITHOUT_SPACE: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Ids of text, the caller's words for them and their place; the last phrase of a passage `closes` it."""

    ids: tuple[int, ...]
    text: str
    span: Span
    closes: bool


class ArrivingScript:
    """The text of one utterance while it arrives. What it gives depends on the whole text, never on its pieces.

    A passage is closed at the end of a sentence once it is long enough to be spoken by itself.
    """

    def __init__(
        self, script: Script, tokenizer: TextTokenizer, tags: Tags, options: NormalizationOptions, language: str | None
    ) -> None:
        self._script = script
        self._tokenizer = tokenizer
        self._tags = tags
        self._options = options
        self._language = language
        self._text = ArrivingText(longest=_LONGEST_CHARS, phrases=True)
        self._checked = ""
        self._reached = 0
        self._size = 0
        self._before = ""

    def push(self, piece: str) -> list[Phrase]:
        """What can be spoken of the text so far and was not given yet."""
        return [phrase for part in self._text.push(piece) for phrase in self._phrases(part)]

    def finish(self) -> list[Phrase]:
        """What is left."""
        return [phrase for part in self._text.finish() for phrase in self._phrases(part)]

    def _phrases(self, part: Part) -> Iterator[Phrase]:
        apart = part.start > self._reached
        self._reached = part.end
        self._check(part, apart=apart)
        span = Span(part.start, part.end)
        cuts = self._script.phrase(part.text, self._options, self._language, ends=part.ends)
        for place, cut in enumerate(cuts):
            size = self._script.length(cut.text)
            if self._size and self._size + size > HARDEST:
                yield self._closing(span)
            ids = tuple(self._tokenizer.encode(self._glue(cut.text, apart=apart or place > 0) + cut.text))
            self._size += size
            closes = part.ends and place == len(cuts) - 1 and self._size >= SHORTEST_TO_CUT
            self._size, self._before = (0, "") if closes else (self._size, cut.text[-1:])
            yield Phrase(ids, f"{' ' if apart else ''}{part.text}" if place == 0 else "", span, closes)

    def _closing(self, span: Span) -> Phrase:
        """The end of a passage that grows too long."""
        self._size, self._before = 0, ""
        return Phrase((), "", Span(span.start, span.start), closes=True)

    def _check(self, part: Part, *, apart: bool) -> None:
        """Refuse what a text must not hold, also where a cut goes through it."""
        self._checked += f"{' ' if apart else ''}{part.text}"
        self._tags.check(self._checked, "input")
        self._checked = self._checked[-LONGEST_CONTROL:]

    def _glue(self, text: str, *, apart: bool) -> str:
        """The space between two phrases, where their script has one."""
        if not self._before or not apart:
            return ""
        return "" if _WITHOUT_SPACE.match(self._before) or _WITHOUT_SPACE.match(text) else " "


class Passages:
    """Phrases, passage by passage."""

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
        """What the caller wrote of the passage so far, runs of white space as one space."""
        return ChunkText("".join(self._words).strip(), self._span)
