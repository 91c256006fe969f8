"""The words of one utterance, timed while it is spoken."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np
import structlog

from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.words.word_timer import Stretch, TimedWords, WordTimer
from polyvox.text.detect import detect_language
from polyvox.text.timed_words import TimedWord, timed_words
from polyvox.types import AudioChunk, Pcm, Span, Utterance, WordTiming

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_STEP_SECONDS: Final = 1.2
"""New audio of a segment under way after which its words are looked for again."""
_PATIENCE: Final = 0.5
"""Wait of an utterance's end for its last words, as a share of its audio, which is playing meanwhile, where
the next utterance of a stream begins after it. Words that are late by then are estimated."""
_LEAST_PATIENCE_SECONDS: Final = 1.0
_MOST_PATIENCE_SECONDS: Final = 10.0


@dataclass(slots=True)
class _Segment:
    """A part of the text that is spoken in one go: where its audio begins, its audio and its words so far.

    `unread` are spans of the text whose words are still to be read. `due` is how many samples have to be there before
    its words are looked for.
    """

    start: int
    due: int = 0
    closed: bool = False
    words: list[TimedWord] = field(default_factory=list)
    unread: deque[Span] = field(default_factory=deque)
    parts: list[Pcm] = field(default_factory=list)
    timed: tuple[Span, ...] = ()

    @property
    def is_due(self) -> bool:
        if self.closed:
            return True
        return bool(self.words or self.unread) and sum(len(part) for part in self.parts) >= self.due

    def stretch(self, sample_rate: int) -> Stretch:
        pcm = np.concatenate(self.parts) if self.parts else np.zeros(0, np.float32)
        return Stretch(pcm, sample_rate, self.start, tuple(self.words), self.closed, self.timed)

    def advance(self, rest: Stretch, step: int) -> None:
        """Go on behind the words that are timed; samples may have come meanwhile."""
        passed = rest.start - self.start
        while self.parts and passed >= len(self.parts[0]):
            passed -= len(self.parts.pop(0))
        if passed and self.parts:
            self.parts[0] = self.parts[0][passed:]
        self.start, self.words, self.timed = rest.start, list(rest.words), rest.timed
        self.due = len(rest.pcm) + step


class WordTrack:
    """Takes the chunks of one utterance and gives out its words, each once and in order, when their times are known.

    Audio never waits for words: a background task finds them, and they go with a later chunk. `text` gives the text as
    far as it is known. A chunk with a span is the first of that text or, where `text_follows`, the last.
    """

    def __init__(
        self,
        timer: WordTimer,
        executor: DeviceExecutor,
        utterance: Utterance,
        text: Callable[[], str],
        *,
        tags: frozenset[str],
        languages: frozenset[str],
        text_follows: bool,
        patient: bool,
    ) -> None:
        self._patient = patient
        self._timer = timer
        self._executor = executor
        self._utterance = utterance
        self._text = text
        self._tags = tags
        self._languages = languages
        self._text_follows = text_follows
        self._segments: deque[_Segment] = deque()
        self._read = 0
        self._ready: list[WordTiming] = []
        self._last: AudioChunk | None = None
        self._finished = False
        self._changed = asyncio.Event()
        self._worker = asyncio.create_task(self._work())

    def push(self, chunk: AudioChunk) -> AudioChunk:
        """Note a chunk; returns it with the words that have become known."""
        begins = chunk.span is not None and not self._text_follows
        if begins or not self._segments or self._segments[-1].closed:
            self._begin(chunk.start, chunk.sample_rate)
        segment = self._segments[-1]
        segment.parts.append(chunk.pcm)
        if chunk.span is not None:
            segment.unread.append(self._taken(chunk.span.end))
            segment.closed = self._text_follows
        self._last = chunk
        self._changed.set()
        return replace(chunk, words=self._take()) if self._ready else chunk

    async def finish(self) -> AudioChunk | None:
        """Wait for the words that are left; they come with a chunk without samples. None where all are given out."""
        if self._last is None:
            return None
        if not self._segments or self._segments[-1].closed:
            self._begin(self._last.end, self._last.sample_rate)
        self._segments[-1].unread.append(self._taken(len(self._text())))
        self._segments[-1].closed = self._finished = True
        self._changed.set()
        await asyncio.wait([self._worker], timeout=self._patience())
        if not self._worker.done():
            await self._estimate_rest()
        elif (failure := self._worker.exception()) is not None:
            log.error("words cannot be timed", exc_info=failure)
        if not self._ready:
            return None
        end = self._last
        return AudioChunk(end.pcm[:0], end.sample_rate, end.index + 1, end.end, words=self._take())

    async def close(self) -> None:
        """End the background task."""
        self._worker.cancel()
        await asyncio.wait([self._worker])

    def _patience(self) -> float:
        """Seconds; the most where nothing follows, and while the aligner is not loaded yet."""
        if self._patient or self._last is None or not self._timer.is_ready:
            return _MOST_PATIENCE_SECONDS
        share = _PATIENCE * self._last.end / self._last.sample_rate
        return min(max(share, _LEAST_PATIENCE_SECONDS), _MOST_PATIENCE_SECONDS)

    def _begin(self, start: int, sample_rate: int) -> None:
        if self._segments:
            self._segments[-1].closed = True
        self._segments.append(_Segment(start, due=int(_STEP_SECONDS * sample_rate)))

    def _taken(self, end: int) -> Span:
        """The text from where it was read to so far up to `end`."""
        start, self._read = self._read, max(self._read, end)
        return Span(start, self._read)

    def _take(self) -> tuple[WordTiming, ...]:
        ready, self._ready = tuple(self._ready), []
        return ready

    async def _work(self) -> None:
        while not (self._finished and not self._segments):
            segment = self._segments[0] if self._segments else None
            if segment is None or not segment.is_due:
                self._changed.clear()
                await self._changed.wait()
            elif segment.unread:
                words = await self._executor.run(partial(self._words, segment.unread[0]))
                segment.unread.popleft()
                segment.words += words
            else:
                await self._step(segment)

    async def _step(self, segment: _Segment) -> None:
        """Find the next words of a segment, and be done with it if it is closed."""
        assert self._last is not None
        stretch = segment.stretch(self._last.sample_rate)
        timed = await self._executor.run(partial(self._timed, stretch))
        self._give_out(stretch, timed)
        if stretch.whole:
            self._segments.popleft()
        elif timed.spans:
            segment.advance(stretch.after(timed.spans), int(_STEP_SECONDS * stretch.sample_rate))
        else:
            segment.due = 2 * len(stretch.pcm)

    def _timed(self, stretch: Stretch) -> TimedWords:
        try:
            return self._timer.time(stretch)
        except Exception:  # words are an extra: whatever goes wrong with them, the speech goes on
            log.exception("alignment failed", words=len(stretch.words), samples=len(stretch.pcm))
            return self._timer.estimate(stretch) if stretch.whole else TimedWords()

    async def _estimate_rest(self) -> None:
        log.warning("word times are late, so they are estimated", segments=len(self._segments))
        await self.close()
        assert self._last is not None
        for segment in self._segments:
            for span in segment.unread:
                segment.words += await asyncio.to_thread(self._words, span)
            stretch = segment.stretch(self._last.sample_rate)
            self._give_out(stretch, await asyncio.to_thread(self._timer.estimate, stretch))
        self._segments.clear()

    def _words(self, span: Span) -> list[TimedWord]:
        text, options = self._text()[span.start : span.end], self._utterance.normalization
        language = self._utterance.language or detect_language(self._text(), self._languages)
        words = timed_words(text, options, language, self._tags)
        return [replace(word, span=Span(word.span.start + span.start, word.span.end + span.start)) for word in words]

    def _give_out(self, stretch: Stretch, timed: TimedWords) -> None:
        text, rate = self._text(), stretch.sample_rate
        for word, span, source in zip(stretch.untimed, timed.spans, timed.sources, strict=False):
            written = text[word.span.start : word.span.end]
            self._ready.append(WordTiming(written, span.start / rate, span.end / rate, word.span, source))
