"""Synthesis of one utterance: frames from the language model, hops of them through the codec, audio chunks out."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import structlog

from polyvox.engines.kit.decoder_streams import DecodedHop
from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kit.seeds import derive_seed
from polyvox.engines.qwen3tts.bundle import SamplingDefaults
from polyvox.engines.qwen3tts.codec_streams import CodecHop, CodecStreams
from polyvox.engines.qwen3tts.conditioning import Condition, Conditioner
from polyvox.errors import InvalidRequestError
from polyvox.runtime.block_allocator import BlockLease
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler
from polyvox.runtime.lm_sequence import LmSequence
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import GenerationLimits, TokenStream
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk, ChunkPolicy, Seconds, Span, StageSeconds

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SAMPLE_RATE = 24_000
_MIN_FRAMES = 2
_FRAMES_PER_ID = 12
_SPARE_FRAMES = 50
"""A text that never ends is cut at so many frames, and so many more for each of its ids: thrice its usual length."""


@dataclass(frozen=True, slots=True)
class SynthesisParts:
    """Parts that the synthesis of all utterances shares."""

    scheduler: LmScheduler
    lm_thread: DeviceExecutor
    conditioner: Conditioner
    codec: Stage[CodecHop, DecodedHop]
    streams: CodecStreams
    groups: int
    stop: frozenset[int]
    """Tokens that end speech."""
    max_frames: int
    max_text: int
    """Most ids of text of one stretch."""
    banned: frozenset[int] = frozenset()
    """Tokens that are never sampled."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text that is spoken as one: its ids, what the caller wrote for it, and its place in the text."""

    ids: tuple[int, ...]
    text: str
    span: Span | None


class UtteranceSynthesis:
    """Progress of one utterance through its passages."""

    def __init__(
        self,
        parts: SynthesisParts,
        condition: Condition,
        sampling: SamplingDefaults,
        policy: ChunkPolicy,
        seed: int,
        max_frames: int | None = None,
    ) -> None:
        """`max_frames` of a passage are what the caller allows, if anything."""
        self._max_frames = max_frames
        self._parts, self._condition, self._sampling, self._seed = parts, condition, sampling, seed
        self._playhead = Playhead(asyncio.get_running_loop().time)
        self._ledger = ChunkLedger(SAMPLE_RATE, policy, self._playhead)
        self._policy = policy
        self._passages = 0
        self._previous: int | None = None
        """Frames of the last hop; the next one may be longer."""

    @property
    def passages(self) -> int:
        """Passages so far."""
        return self._passages

    def pause(self, pause: Pause) -> AudioChunk:
        return self._ledger.pause(pause)

    async def speak(self, passage: Passage, *, streaming: bool) -> AsyncGenerator[AudioChunk]:
        """The chunks of a passage that is there whole; the first carries its text."""
        parts, condition = self._parts, self._condition
        begin = partial(parts.conditioner.open, condition, passage.ids, streaming=streaming)
        async with self._opened() as (sequence, lease):
            opening = await parts.lm_thread.run(begin)
            self._add_text(sequence, opening.trailing, ended=True)
            stream = sequence.extend(opening.prompt, self._limits(len(passage.ids)))
            async with aclosing(self._hops(stream, lease, first=passage)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def speak_arriving(
        self, phrases: AsyncIterator[tuple[int, ...]], wording: Callable[[], Passage]
    ) -> AsyncGenerator[AudioChunk]:
        """The chunks of a passage while its text arrives: frames wait for their text, the first for little of it.

        The last one carries the text, which `wording` knows by then.
        """
        parts, condition = self._parts, self._condition
        begun: list[int] = []
        ended = True
        async for ids in phrases:
            begun += ids
            if parts.conditioner.enough(condition, begun):
                ended = False
                break
        if not begun:
            return
        begin = partial(parts.conditioner.open, condition, tuple(begun), streaming=True, ended=ended)
        async with self._opened() as (sequence, lease):
            opening = await parts.lm_thread.run(begin)
            self._add_text(sequence, opening.trailing, ended=ended)
            stream = sequence.extend(opening.prompt, self._limits(parts.max_text))
            feeding = None if ended else asyncio.create_task(self._feed(sequence, phrases))
            try:
                async with aclosing(self._hops(stream, lease, last=wording)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                if feeding is not None:
                    await feeding
            finally:
                if feeding is not None:
                    feeding.cancel()

    async def _feed(self, sequence: LmSequence, phrases: AsyncIterator[tuple[int, ...]]) -> None:
        """Hand on the text that arrives; where it cannot, the passage ends with what it has."""
        try:
            async for ids in phrases:
                self._add_text(sequence, ids, ended=False)
        finally:
            sequence.add_text((self._parts.conditioner.end_of_text,), ended=True)

    def _add_text(self, sequence: LmSequence, ids: tuple[int, ...], *, ended: bool) -> None:
        """Refuse more text than a slot holds, its end included, here: within a step it would be others' error too."""
        if sequence.text_given + len(sequence.text) + len(ids) >= self._parts.max_text:
            raise InvalidRequestError(
                f"A sentence has more than {self._parts.max_text} tokens of text; divide it.", field="input"
            )
        sequence.add_text(ids, ended=ended)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[tuple[LmSequence, BlockLease]]:
        """A sequence of the language model and a stream of the codec, with random numbers of their own."""
        seed = derive_seed(self._seed, "segment", self._passages)
        self._passages += 1
        first, following = replace(self._sampling.first, seed=seed), self._sampling.following
        async with self._parts.scheduler.open(first, following) as sequence:
            yield sequence, self._parts.streams.open()

    def _limits(self, ids: int) -> GenerationLimits:
        most = min(self._parts.max_frames, self._max_frames or _SPARE_FRAMES + _FRAMES_PER_ID * ids)
        return GenerationLimits(
            most, min_tokens=_MIN_FRAMES, stop_tokens=self._parts.stop, banned_tokens=self._parts.banned
        )

    async def _hops(
        self,
        stream: TokenStream,
        lease: BlockLease,
        *,
        first: Passage | None = None,
        last: Callable[[], Passage] | None = None,
    ) -> AsyncGenerator[AudioChunk]:
        """The chunks of one stretch of speech; the first or the last carries its text."""
        groups, begins, ended, frames, codes = self._parts.groups, True, False, 0, list[int]()
        reference = self._condition.cloned if self._condition.continues else None
        while not ended or codes:
            size = groups * self._policy.size(self._previous)
            # The last chunk must be known as such, where it may be the last one.
            may_end = last is not None and frames + size // groups >= _MIN_FRAMES
            wanted = size + groups if may_end else size
            if not ended and len(codes) < wanted:
                missing = wanted - len(codes)
                codes += (new := await stream.read(missing))
                ended = len(new) < missing
                continue
            hop, codes = codes[:size], codes[size:]
            self._previous = len(hop) // groups
            frames += self._previous
            given = CodecHop.of(lease, hop, groups, reference if begins else None, first=begins)
            asked = time.perf_counter()
            done = await self._parts.codec(given, due=self._playhead.due)
            spent = StageSeconds(lm=stream.lap(), vocoder=Seconds(time.perf_counter() - asked, done.seconds))
            text = last() if last and ended and not codes else first if begins else None
            yield self._chunk(done, given.count, text, spent)
            begins = False
        if self._max_frames is None and frames >= self._parts.max_frames:
            log.warning("speech reached its greatest length before its end", frames=frames)

    def _chunk(self, done: DecodedHop, frames: int, passage: Passage | None, spent: StageSeconds) -> AudioChunk:
        return self._ledger.chunk(
            done.pcm,
            text=passage.text if passage else "",
            span=passage.span if passage else None,
            tokens=frames,
            device_seconds=done.seconds,
            stages=spent,
        )
