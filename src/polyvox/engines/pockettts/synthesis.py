"""Synthesis of one utterance: latents from the language model, hops of them through the codec, audio chunks out."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import numpy as np
import structlog

from polyvox.engines.kit.decoder_streams import DecodedHop
from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kit.seeds import derive_seed
from polyvox.engines.pockettts.codec_streams import CodecHop, CodecStreams
from polyvox.engines.pockettts.frame_scheduler import FrameRequest, FrameScheduler
from polyvox.engines.pockettts.text import TextChunk
from polyvox.engines.pockettts.voice_state import VoiceState
from polyvox.runtime.stage import Stage
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk, ChunkPolicy, Pcm, Seconds, Span, StageSeconds

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_FADE_IN = np.linspace(0, 1, 120, dtype=np.float32)
"""A decoder that begins makes a small step, which would be heard as a click."""


@dataclass(frozen=True, slots=True)
class SynthesisParts:
    """Parts that the synthesis of all utterances shares."""

    scheduler: FrameScheduler
    codec: Stage[CodecHop, DecodedHop]
    streams: CodecStreams
    sample_rate: int


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling of one utterance."""

    deviation: float
    threshold: float
    tail: int | None
    """Frames behind the end of speech; None: as the text has it."""
    seed: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of text, what the caller wrote for it, and its place in the text; only a segment's first chunk has it."""

    chunk: TextChunk
    text: str
    span: Span | None


class UtteranceSynthesis:
    """Progress of one utterance through its passages."""

    def __init__(self, parts: SynthesisParts, voice: VoiceState, sampling: Sampling, policy: ChunkPolicy) -> None:
        self._parts, self._voice, self._sampling, self._policy = parts, voice, sampling, policy
        self._playhead = Playhead(asyncio.get_running_loop().time)
        self._ledger = ChunkLedger(parts.sample_rate, policy, self._playhead)
        self._passages = 0
        self._previous: int | None = None
        """Frames of the last hop; the next one may be longer."""

    def pause(self, pause: Pause) -> AudioChunk:
        return self._ledger.pause(pause)

    async def speak(self, passage: Passage) -> AsyncGenerator[AudioChunk]:
        """The chunks of a passage; the first carries its text."""
        request = self._request(passage.chunk)
        self._passages += 1
        async with self._parts.scheduler.open(request) as stream:
            slot, first, ended = self._parts.streams.open(), True, False
            while not ended:
                size, asked = self._policy.size(self._previous), time.perf_counter()
                latents = await stream.read(size)
                ended = len(latents) < size
                if not latents:
                    break
                self._previous, read = len(latents), time.perf_counter()
                done = await self._parts.codec(CodecHop(slot, np.stack(latents), first), due=self._playhead.due)
                spent = StageSeconds(
                    lm=Seconds(read - asked), vocoder=Seconds(time.perf_counter() - read, done.seconds)
                )
                yield self._chunk(done, len(latents), passage if first else None, spent)
                first = False
            if stream.cut:
                log.warning("speech reached its greatest length before its end", frames=request.max_frames)

    def _request(self, chunk: TextChunk) -> FrameRequest:
        sampling = self._sampling
        return FrameRequest(
            self._voice,
            chunk.ids,
            sampling.deviation,
            sampling.threshold,
            chunk.tail if sampling.tail is None else sampling.tail,
            chunk.max_frames,
            derive_seed(sampling.seed, "segment", self._passages),
        )

    def _chunk(self, done: DecodedHop, frames: int, begins: Passage | None, spent: StageSeconds) -> AudioChunk:
        return self._ledger.chunk(
            done.pcm if begins is None else _faded_in(done.pcm),
            text=begins.text if begins else "",
            span=begins.span if begins else None,
            tokens=frames,
            device_seconds=done.seconds,
            stages=spent,
        )


def _faded_in(pcm: Pcm) -> Pcm:
    pcm[: len(_FADE_IN)] *= _FADE_IN
    return pcm
