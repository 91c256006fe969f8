"""Speech tokens of streamed text: turns of text and speech interleaved in one sequence of the language model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import structlog

from polyvox.engines.cosyvoice.lm_adapter import CosyVoiceLmAdapter
from polyvox.errors import EngineError, PolyvoxError
from polyvox.models.cosyvoice.bistream import Bistream
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenSource, TokenStream

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MOST_UNREAD = 512
"""Unread tokens above which decoding waits for the reader."""


class ResumableSequence(Protocol):
    """A sequence that takes more input after it has generated tokens."""

    def extend(self, prompt: Prompt, limits: GenerationLimits) -> TokenStream:
        """Prefill more input, and then generate tokens within these limits."""


class ResumableSource(TokenSource, Protocol):
    """A token source whose sequences take input more than once."""

    def open(self, sampling: SamplingParams) -> AbstractAsyncContextManager[ResumableSequence]:
        """A sequence, while the block lasts."""


class LengthRule(Protocol):
    """Length limits of the speech of so many text ids."""

    def __call__(self, text_ids: int) -> GenerationLimits: ...


@dataclass(frozen=True, slots=True)
class BistreamSource:
    """Generates the speech tokens of a passage while its text arrives."""

    source: ResumableSource
    adapter: CosyVoiceLmAdapter
    limits: LengthRule

    @asynccontextmanager
    async def tokens(
        self, plan: Bistream, phrases: AsyncIterator[tuple[int, ...]], sampling: SamplingParams
    ) -> AsyncIterator[TokenStream]:
        """Generate tokens while the block lasts; the stream ends after the phrases do."""
        stream = TokenStream()
        task = asyncio.create_task(self._generate(plan, phrases, sampling, stream))
        try:
            yield stream
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _generate(
        self, plan: Bistream, phrases: AsyncIterator[tuple[int, ...]], sampling: SamplingParams, stream: TokenStream
    ) -> None:
        """Fill the stream; errors are raised to its reader."""
        count = 0
        try:
            async with self.source.open(sampling) as sequence:
                async for ids in phrases:
                    count += len(ids)
                    plan = await self._turns(plan.push(ids), sequence, stream, count)
                await self._turns(plan.push((), last=True), sequence, stream, count)
            stream.finish()
        except PolyvoxError as error:
            stream.finish(error)
        except Exception:
            log.exception("streamed text failed")
            stream.finish(EngineError("The text could not be read to its end; the cause is in the server's log."))

    async def _turns(self, plan: Bistream, sequence: ResumableSequence, stream: TokenStream, text_ids: int) -> Bistream:
        """Generate as far as the text so far allows."""
        while plan.feed:
            prompt = Prompt(ids=self.adapter.feed(plan.feed))
            turn = sequence.extend(prompt, self._turn_limits(plan, text_ids))
            while fresh := await turn.read():
                stream.charge(turn.lap().device or 0.0)
                for token in fresh:
                    plan = plan.accept(token)
                stream.push(fresh)
                await stream.wait_while_ahead(_MOST_UNREAD)
            plan = plan.accept(plan.vocabulary.eos if plan.final else plan.vocabulary.fill)
        return plan

    def _turn_limits(self, plan: Bistream, text_ids: int) -> GenerationLimits:
        """Until the fill token is due or sampled; after the last text, until the end of speech."""
        whole = self.limits(text_ids)
        if plan.final:
            most = max(1, whole.max_tokens - plan.spoken)
            return GenerationLimits(
                most,
                min(most, max(0, whole.min_tokens - plan.spoken)),
                whole.stop_tokens,
                whole.banned_tokens,
                whole.held_tokens,
            )
        fill = plan.vocabulary.fill
        return GenerationLimits(
            plan.fill_at - plan.produced, stop_tokens=frozenset({fill}), banned_tokens=whole.stop_tokens - {fill}
        )
