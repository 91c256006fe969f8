"""Synthesis of one utterance: tokens from the language model, windows of them through the codec, audio chunks out."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import numpy as np
import structlog

from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.speechlm.codec_decoder import DecodedWindow
from polyvox.engines.speechlm.options import SynthesisOptions
from polyvox.engines.speechlm.windows import CodecWindow, Codes, WindowCodes, WindowCrossfade, WindowCursor
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import GenerationLimits, Prompt, TokenSource, TokenStream
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import AudioChunk, Seconds, StageSeconds

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SAMPLE_RATE = 24_000


@dataclass(frozen=True, slots=True)
class SynthesisStages:
    """Parts that the synthesis of all utterances shares: the language model, and the codec's stage."""

    source: TokenSource
    stop_tokens: frozenset[int]
    codec: Stage[WindowCodes, DecodedWindow]
    hop: int
    """Samples of one token."""
    max_segment_tokens: int


class UtteranceSynthesis:
    """Progress of one utterance through its segments."""

    def __init__(self, text: str, options: SynthesisOptions, stages: SynthesisStages) -> None:
        self._text = text
        self._options = options
        self._stages = stages
        self._playhead = Playhead(asyncio.get_running_loop().time)
        self._ledger = ChunkLedger(SAMPLE_RATE, options.windows.chunks, self._playhead)
        self._segments = 0
        self._window_size: int | None = None
        """Tokens of the last window; the next one may be longer."""

    @property
    def tokens(self) -> int:
        """Speech tokens so far."""
        return self._ledger.tokens

    @property
    def exhausted(self) -> bool:
        """True if the utterance has all the tokens that its caller allows."""
        return self._options.max_tokens is not None and self.tokens >= self._options.max_tokens

    def pause(self, pause: Pause) -> AudioChunk:
        return self._ledger.pause(pause)

    async def speak(self, segment: TrackedText, prompt: Prompt) -> AsyncGenerator[AudioChunk]:
        """The chunks of one segment; the first carries its text."""
        stages, first = self._stages, self.tokens
        allowed = stages.max_segment_tokens
        if self._options.max_tokens is not None:
            allowed = min(allowed, self._options.max_tokens - first)
        sampling = self._options.segment_sampling(self._segments)
        self._segments += 1
        limits = GenerationLimits(allowed, stop_tokens=stages.stop_tokens)
        async with stages.source.generate(prompt, sampling, limits) as stream:
            windows = _WindowStream(stream, WindowCursor(self._options.windows, previous=self._window_size))
            crossfade = WindowCrossfade(stages.hop, SAMPLE_RATE)
            while (window := await windows.next()) is not None:
                asked = time.perf_counter()
                given = WindowCodes(windows.codes(window), crossfade.wanted(window))
                decoded = await stages.codec(given, due=self._playhead.due)
                vocoder = Seconds(time.perf_counter() - asked, decoded.seconds)
                span = segment.span(0, len(segment)) if window.new.start == 0 else None
                self._window_size = len(window.new)
                yield self._ledger.chunk(
                    crossfade.push(window, decoded.pcm),
                    text=self._text[span.start : span.end] if span else "",
                    span=span,
                    tokens=len(window.new),
                    device_seconds=decoded.seconds,
                    stages=StageSeconds(lm=stream.lap(), vocoder=vocoder),
                )
        if self.tokens - first >= allowed:
            log.warning("speech reached its greatest length before its end", tokens=allowed, chars=len(segment))


@dataclass(slots=True)
class _WindowStream:
    """The windows of one segment, each as soon as its tokens have arrived."""

    stream: TokenStream
    cursor: WindowCursor
    tokens: list[int] = field(default_factory=list)
    ended: bool = False

    async def next(self) -> CodecWindow | None:
        while (window := self.cursor.next(len(self.tokens), ended=self.ended)) is None:
            if self.ended:
                return None
            missing = self.cursor.needed - len(self.tokens)
            new = await self.stream.read(missing)
            self.tokens += new
            self.ended = len(new) < missing
        self.cursor = self.cursor.after(window)
        return window

    def codes(self, window: CodecWindow) -> Codes:
        return np.array(self.tokens[window.decoded.start : window.decoded.end], np.int64)
