"""One utterance on its way: tokens from the language model, windows of them through the codec, chunks of audio out."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import numpy as np
import structlog

from polyvox.audio.pcm import silence
from polyvox.engines.speechlm.decoding import Codes, Decoded
from polyvox.engines.speechlm.manner import Manner
from polyvox.engines.speechlm.windows import Cursor, Joiner, Window
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import Limits, Prompt, TokenSource, TokenStream
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import AudioChunk, Pcm, Span

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SAMPLE_RATE = 24_000


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(slots=True)
class Speech:
    """How far one utterance has come."""

    text: str
    manner: Manner
    source: TokenSource
    codec: Stage[Codes, Decoded]
    hop: int
    longest: int
    """Most tokens of one piece."""
    ends: frozenset[int]
    index: int = 0
    samples: int = 0
    tokens: int = 0
    pieces: int = 0
    size: int | None = None
    """Of the last window."""
    due: float = field(default_factory=_now)
    asked: float = field(default_factory=time.perf_counter)

    @property
    def exhausted(self) -> bool:
        """Whether the utterance has all the tokens that its caller allows."""
        return self.manner.most is not None and self.tokens >= self.manner.most

    def pause(self, pause: Pause) -> AudioChunk:
        return self._chunk(silence(pause.seconds, SAMPLE_RATE), Span(self.tokens, self.tokens), 0.0, None)

    async def say(self, piece: TrackedText, prompt: Prompt) -> AsyncGenerator[AudioChunk]:
        """The chunks of one piece; the first carries its text."""
        allowed = self.longest if self.manner.most is None else min(self.longest, self.manner.most - self.tokens)
        first, span = self.tokens, piece.span(0, len(piece))
        sampling = self.manner.sampling_of(self.pieces)
        self.pieces += 1
        async with self.source.generate(prompt, sampling, Limits(allowed, ends=self.ends)) as stream:
            windows = _Windows(stream, Cursor(self.manner.windows, previous=self.size))
            joiner = Joiner(self.hop, SAMPLE_RATE)
            while (window := await windows.next()) is not None:
                decoded = await self.codec(windows.codes(window), due=self.due)
                pcm = joiner.push(window, decoded.pcm)
                tokens = Span(first + window.new.start, first + window.new.end)
                self.tokens, self.size = tokens.end, len(window.new)
                yield self._chunk(pcm, tokens, decoded.seconds, span if window.new.start == 0 else None)
        if self.tokens - first >= allowed:
            log.warning("speech reached its greatest length before its end", tokens=allowed, chars=len(piece))

    def _chunk(self, pcm: Pcm, tokens: Span, device_seconds: float, span: Span | None) -> AudioChunk:
        now = time.perf_counter()
        chunk = AudioChunk(
            pcm=pcm,
            sample_rate=SAMPLE_RATE,
            index=self.index,
            start=self.samples,
            text=self.text[span.start : span.end] if span else "",
            span=span,
            tokens=tokens,
            wall_seconds=now - self.asked,
            device_seconds=device_seconds,
            policy=self.manner.windows.chunks,
        )
        # The player starts with the first chunk; from then on each next one is due when this one has been heard.
        self.due = (_now() if self.index == 0 else self.due) + chunk.duration
        self.index, self.samples, self.asked = self.index + 1, chunk.end, now
        return chunk


@dataclass(slots=True)
class _Windows:
    """The windows of one piece, each as soon as its tokens are there."""

    stream: TokenStream
    cursor: Cursor
    tokens: list[int] = field(default_factory=list)
    ended: bool = False

    async def next(self) -> Window | None:
        while (window := self.cursor.next(len(self.tokens), ended=self.ended)) is None:
            if self.ended:
                return None
            missing = self.cursor.needed - len(self.tokens)
            new = await self.stream.read(missing)
            self.tokens += new
            self.ended = len(new) < missing
        self.cursor = self.cursor.after(window)
        return window

    def codes(self, window: Window) -> Codes:
        return np.array(self.tokens[window.seen.start : window.seen.end], np.int64)
