"""Synthesis of one utterance: speech tokens from T3, hops of them through S3Gen, audio chunks out."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.engines.chatterbox.passages import Passage
from polyvox.engines.chatterbox.sampling import T3Sampling
from polyvox.engines.chatterbox.speech_tokens import SpeechTokens, T3Conditions
from polyvox.engines.cosyvoice.decoder.hop_decoding import HopDecoder, SegmentChunk, SegmentTokens
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState
from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kit.seeds import derive_seed
from polyvox.runtime.tokens import TokenStream
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk, ChunkPolicy

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SAMPLE_RATE = 24_000
TOKEN_SAMPLES = 960
_FADE_ZEROS = TOKEN_SAMPLES // 2


def fade_in() -> npt.NDArray[np.float32]:
    """Factors of the first samples of each stretch of speech, where the prompt's last sound would leak in."""
    ramp = (np.cos(np.linspace(np.pi, 0, TOKEN_SAMPLES - _FADE_ZEROS)) + 1) / 2
    return np.concatenate((np.zeros(_FADE_ZEROS), ramp)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class SynthesisParts:
    """Parts that the synthesis of all utterances shares."""

    tokens: SpeechTokens
    decoder: HopDecoder
    block: int
    ahead: int
    tail: tuple[int, ...] = ()
    """Speech tokens behind the last that is generated."""
    cuts_end: bool = False
    """True if the audio of the last token is left out."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """The manner of an utterance: T3's voice and sampling, the decoder's state of the voice, and the seed."""

    conditions: T3Conditions
    sampling: T3Sampling
    base: "asyncio.Future[DecoderState]"
    prompt_tokens: int
    """Speech tokens of the voice in front of those of the utterance."""
    seed: int


class UtteranceSynthesis:
    """Progress of one utterance through its passages."""

    def __init__(self, parts: SynthesisParts, speaking: Speaking, policy: ChunkPolicy) -> None:
        self._parts, self._speaking = parts, speaking
        self._playhead = Playhead(asyncio.get_running_loop().time)
        self._ledger = ChunkLedger(SAMPLE_RATE, policy, self._playhead)
        self._hops = Hops(policy, speaking.prompt_tokens, parts.block, parts.ahead)
        self._passages = 0

    def pause(self, pause: Pause) -> AudioChunk:
        return self._ledger.pause(pause)

    async def speak(self, passage: Passage) -> AsyncGenerator[AudioChunk]:
        """The chunks of a passage; the first carries its text."""
        speaking = self._speaking
        seed = derive_seed(speaking.seed, "segment", self._passages)
        self._passages += 1
        sampling = speaking.sampling.within(len(passage.ids))
        generated = self._parts.tokens.speak_tokens(passage.ids, speaking.conditions, sampling, seed)
        given = SegmentTokens(generated, tail=self._parts.tail)
        async with aclosing(self._decoded(given, seed, passage)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def convert(self, tokens: Sequence[int]) -> AsyncGenerator[AudioChunk]:
        """The chunks of speech tokens that are known."""
        stream = TokenStream()
        stream.push(tokens)
        stream.finish()
        async with aclosing(self._decoded(SegmentTokens(nullcontext(stream)), self._speaking.seed, None)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _decoded(self, tokens: SegmentTokens, seed: int, passage: Passage | None) -> AsyncGenerator[AudioChunk]:
        decoding = self._parts.decoder.decode(tokens, self._speaking.base, seed, self._hops, self._playhead)
        cuts_end, count, first = self._parts.cuts_end and passage is not None, 0, True
        async with aclosing(decoding) as chunks:
            async for chunk in chunks:
                count += chunk.tokens
                trimmed = _trimmed(chunk, first=first, cut=cuts_end and chunk.last and count > 1)
                if not len(trimmed.pcm):
                    continue
                yield self._chunk(trimmed, passage if first else None)
                first = False
        if passage is not None:
            most = self._speaking.sampling.within(len(passage.ids)).max_tokens
            if count - len(tokens.tail) >= most:
                log.warning("speech reached its greatest length before its end", tokens=count, chars=len(passage.text))

    def _chunk(self, chunk: SegmentChunk, passage: Passage | None) -> AudioChunk:
        return self._ledger.chunk(
            chunk.pcm,
            text=passage.text if passage else "",
            span=passage.span if passage else None,
            tokens=chunk.tokens,
            frames=chunk.frames,
            device_seconds=chunk.device_seconds,
            stages=chunk.stages,
        )


def _trimmed(chunk: SegmentChunk, *, first: bool, cut: bool) -> SegmentChunk:
    """The chunk as it is heard: faded in where speech begins, and without its last token where that is cut."""
    pcm = chunk.pcm
    if first and len(pcm):
        head = pcm[:TOKEN_SAMPLES] * fade_in()[: len(pcm)]
        pcm = np.concatenate((head, pcm[TOKEN_SAMPLES:]))
    return replace(chunk, pcm=pcm[:-TOKEN_SAMPLES] if cut else pcm)
