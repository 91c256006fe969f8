"""Synthesis of one segment: speech tokens are generated, and decoded to audio hop by hop while more come."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, replace

from polyvox.engines.cosyvoice.bistream import BistreamSource, ResumableSource
from polyvox.engines.cosyvoice.decoder.hop_decoding import HopDecoder, SegmentChunk, SegmentTokens
from polyvox.engines.cosyvoice.decoder.hop_stage import HopStage
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState
from polyvox.engines.cosyvoice.decoder.token2wav import MAX_TOKENS
from polyvox.engines.cosyvoice.lm_adapter import CosyVoiceLmAdapter, LmAdapter
from polyvox.engines.cosyvoice.lm_prompt import LmPrompt
from polyvox.engines.cosyvoice.model_config import CosyVoiceConfig
from polyvox.engines.kit.playhead import Playhead
from polyvox.models.cosyvoice.lm import length_limits
from polyvox.models.cosyvoice.silence import SilentRun
from polyvox.runtime.tokens import GenerationLimits, SamplingParams, TokenStream
from polyvox.types import Span

MAX_TOKENS_V1 = 2000
"""Speech tokens of version 1's longest segment, forty seconds: with the longest prompt they fill a sequence."""


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """The prompt, the voice's decoder state and the seed of one segment."""

    prompt: LmPrompt
    base: "asyncio.Future[DecoderState]"
    """The state before the first token. It is computed while the first tokens are generated, once for all segments."""
    seed: int


@dataclass(frozen=True, slots=True)
class ChunkText:
    """The caller's text that a chunk carries, and its span."""

    text: str = ""
    span: Span | None = None


NO_TEXT = ChunkText()


class _AudibleInVersion3:
    """Shortens long silences."""

    def __init__(self) -> None:
        self._silence = SilentRun()

    def __call__(self, token: int) -> bool:
        self._silence = self._silence.after(token)
        return not self._silence.too_long


class SegmentSynthesizer:
    """Synthesizes segments; it holds no state of theirs.

    `original` suppresses, before the minimum length, only what the original does, which in version 3 is nothing.
    """

    def __init__(
        self,
        config: CosyVoiceConfig,
        adapter: LmAdapter,
        source: ResumableSource,
        stage: HopStage,
        *,
        original: bool = False,
    ) -> None:
        self._config = config
        self._adapter = adapter
        self._source = source
        self._decoder = HopDecoder(stage)
        self._original = original
        self.block, self.ahead = config.flow.flow.block, config.flow.flow.ahead

    async def speak(
        self, segment: SegmentContext, ids: Sequence[int], hops: Hops, playhead: Playhead
    ) -> AsyncGenerator[SegmentChunk]:
        """Speak a text whose ids are all known."""
        prompt = await self._adapter.lm_input(segment.prompt, ids)
        tokens = self._source.generate(prompt, self._sampling(segment), self.limits(len(ids)))
        async with aclosing(self._decode(tokens, segment, hops, playhead)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def speak_stream(
        self, segment: SegmentContext, phrases: AsyncIterator[tuple[int, ...]], hops: Hops, playhead: Playhead
    ) -> AsyncGenerator[SegmentChunk]:
        """Speak a text whose ids are still arriving; a version that cannot interleave waits for all of them."""
        if not isinstance(self._adapter, CosyVoiceLmAdapter):
            ids = [each async for phrase in phrases for each in phrase]
            if not ids:
                return
            async with aclosing(self.speak(segment, ids, hops, playhead)) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        source = BistreamSource(self._source, self._adapter, self.limits)
        tokens = source.tokens(segment.prompt.bistream(self._config.lm.speech), phrases, self._sampling(segment))
        async with aclosing(self._decode(tokens, segment, hops, playhead)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def speak_tokens(
        self, segment: SegmentContext, tokens: Sequence[int], hops: Hops, playhead: Playhead
    ) -> AsyncGenerator[SegmentChunk]:
        """Decode speech tokens that are known."""
        stream = TokenStream()
        stream.push(tokens)
        stream.finish()
        async with aclosing(self._decode(nullcontext(stream), segment, hops, playhead, keep_silence=True)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _decode(
        self,
        tokens: AbstractAsyncContextManager[TokenStream],
        segment: SegmentContext,
        hops: Hops,
        playhead: Playhead,
        *,
        keep_silence: bool = False,
    ) -> AsyncGenerator[SegmentChunk]:
        given = SegmentTokens(tokens)
        if self._config.version == 3 and not keep_silence:
            given = SegmentTokens(tokens, _AudibleInVersion3())
        async with aclosing(self._decoder.decode(given, segment.base, segment.seed, hops, playhead)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _sampling(self, segment: SegmentContext) -> SamplingParams:
        return replace(default_sampling(self._config), seed=segment.seed)

    def limits(self, text_ids: int) -> GenerationLimits:
        """Length limits of the speech of so many text ids."""
        speech = self._config.lm.speech
        limits = length_limits(text_ids, speech, original=self._original)
        most = min(limits.maximum, MAX_TOKENS_V1 if self._config.version == 1 else MAX_TOKENS)
        return GenerationLimits(
            most,
            min(limits.minimum, most),
            stop_tokens=frozenset(range(speech.speech, speech.rows)),
            held_tokens=frozenset(range(speech.rows)[limits.suppressed]),
        )


def default_sampling(config: CosyVoiceConfig) -> SamplingParams:
    """The sampling parameters that the model was published with."""
    rules = config.sampling
    return SamplingParams(
        top_k=rules.top_k, top_p=rules.top_p, repeat_window=rules.window, repeat_share=rules.tolerated_share
    )
