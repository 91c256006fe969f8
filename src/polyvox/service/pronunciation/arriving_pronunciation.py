"""Dictionaries for an engine that speaks along with arriving text: pieces are rewritten as they come."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from polyvox.engines.base import Engine
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.service.pronunciation.source_words import SourceWords
from polyvox.text.dictionary.lexicon import markup_spans
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, Span, Utterance

_MAX_HELD: Final = 1_100
"""Characters after which text is passed on, whatever may still become of it."""
_WORD: Final = re.compile(r"\S+")
_OPEN_MARKUP: Final = re.compile(r"[<\[][^<>\[\]]*(?:\]\([^()]*)?\Z")


class ArrivingPronunciation:
    """Rewrites pieces of a text, and makes the chunks that are spoken for them those of the caller's text.

    As many words are held back as an entry has, so that none is missed because it comes in two pieces.
    """

    def __init__(self, pronunciation: Pronunciation, engine: Engine, utterance: Utterance, warnings: Warnings) -> None:
        self._pronunciation = pronunciation
        self._engine = engine
        self._utterance = utterance
        self._warnings = warnings
        self._raw = ""
        self._done = 0
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._words = SourceWords(self._starts, self._ends, lambda: self._raw)

    async def rewritten(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """The pieces as they are to be spoken."""
        async with aclosing(pieces):
            async for piece in pieces:
                self._raw += piece
                cut = self._complete()
                if cut > self._done:
                    yield await self._said(cut)
        if self._done < len(self._raw):
            yield await self._said(len(self._raw))

    def in_raw(self, chunk: AudioChunk) -> AudioChunk:
        """A chunk with words and spans of the caller's text."""
        words = tuple(replace(word, span=self._span(word.span)) for word in self._words.of(chunk.words))
        return replace(chunk, span=None if chunk.span is None else self._span(chunk.span), words=words)

    async def _said(self, end: int) -> str:
        begin, self._done = self._done, end
        text, utterance = TrackedText.of(self._raw[begin:end]), self._utterance
        said = await self._pronunciation.rewrite(
            text, self._engine, utterance.language, utterance.voice, self._warnings
        )
        self._starts += (start + begin for start in said.starts)
        self._ends += (at + begin for at in said.ends)
        return said.text

    def _complete(self) -> int:
        """The length of text that no entry and no markup can carry on into what is still to come."""
        held = self._raw[self._done :]
        if len(held) > _MAX_HELD:
            return len(self._raw)
        words = [word.start() for word in _WORD.finditer(held)]
        keep = self._pronunciation.lexicon.max_words
        cut = words[-keep] if len(words) > keep else 0
        markup = _OPEN_MARKUP.search(held)
        cut = cut if markup is None else min(cut, markup.start())
        if not cut:
            return self._done
        utterance = self._utterance
        found = self._pronunciation.found(held, self._engine, utterance.language, utterance.voice)
        whole = sorted((*found, *markup_spans(held)), key=lambda span: span.start, reverse=True)
        for span in whole:
            cut = span.start if span.start < cut < span.end else cut
        return self._done + cut

    def _span(self, span: Span) -> Span:
        count = len(self._starts)
        if not count:
            return span
        start = min(max(0, span.start), count - 1)
        end = min(max(start + 1, span.end), count)
        found = Span(min(self._starts[start:end]), max(self._ends[start:end]))
        return found if span.end > span.start else Span(found.start, found.start)
