"""Decoding of one segment hop by hop, while its speech tokens are still generated."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from polyvox.engines.cosyvoice.decoder.hop_stage import HopStage
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState, Hop
from polyvox.engines.kit.gathering import Gathering
from polyvox.engines.kit.playhead import Playhead
from polyvox.runtime.tokens import TokenStream
from polyvox.types import NO_STAGES, Pcm, StageSeconds

GATHER_SECONDS = 0.01
_NEARLY = 4
"""A first hop waits for the first hops of streams that miss no more tokens than this, a step or two of the language
model: streams that start together are then decoded together, and none waits for the batch of another."""


@dataclass(frozen=True, slots=True)
class SegmentChunk:
    """Audio of one hop, the tokens and mel frames it adds, and the bytes of the flow's caches after it."""

    pcm: Pcm
    tokens: int
    frames: int
    device_seconds: float
    cache_bytes: int
    first: bool
    last: bool
    stages: StageSeconds = NO_STAGES


def _every_token(_: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class SegmentTokens:
    """The speech tokens of a segment: those that are generated, less those that are not heard, and a tail."""

    generated: AbstractAsyncContextManager[TokenStream]
    audible: Callable[[int], bool] = _every_token
    """Asked once for each token, in their order."""
    tail: tuple[int, ...] = ()


class _AudibleTokens:
    """The tokens of a segment so far."""

    def __init__(self, stream: TokenStream, given: SegmentTokens) -> None:
        self._stream, self._given = stream, given
        self._ended = False
        self.tokens: list[int] = []

    async def reach(self, count: int) -> None:
        """Wait for so many tokens or the end of the stream; its error is raised after its tokens."""
        while not self._ended and len(self.tokens) < count:
            fresh = await self._stream.read(count - len(self.tokens))
            self.tokens += [token for token in fresh if self._given.audible(token)]
            if not fresh:
                self._ended = True
                self.tokens += self._given.tail


class HopDecoder:
    """Decodes segments on the stage of flow and vocoder; it holds no state of theirs."""

    def __init__(self, stage: HopStage) -> None:
        self._stage = stage
        self._gathering = Gathering()

    async def decode(
        self, tokens: SegmentTokens, base: "asyncio.Future[DecoderState]", seed: int, hops: Hops, playhead: Playhead
    ) -> AsyncGenerator[SegmentChunk]:
        """Decode each hop as soon as its tokens and its lookahead are known, whether or not more follow, so that chunk
        boundaries depend on nothing but the tokens. `base` is the state before the first token.
        """
        async with tokens.generated as stream:
            audible = _AudibleTokens(stream, tokens)
            await audible.reach(hops.needed - _NEARLY)
            # A lone stream is heard sooner where its language model does not run beside its first hop.
            stream.hold()
            with self._gathering.arriving():
                await audible.reach(hops.needed)
            await self._gathering.wait(GATHER_SECONDS)
            state, done, final = replace(await asyncio.shield(base), seed=seed), 0, False
            while not final:
                await audible.reach(hops.needed)
                final = len(audible.tokens) < hops.needed
                if not audible.tokens:
                    return
                known = len(audible.tokens) if final else hops.needed
                end = known if final else hops.end
                hop = Hop(tuple(audible.tokens[done:known]), state, final)
                result = await self._stage(hop, due=playhead.due)
                if stream.held:
                    stream.release()
                state, done = result.state, known
                yield SegmentChunk(
                    result.pcm,
                    end - hops.done,
                    result.frames,
                    result.device_seconds,
                    0 if final else state.nbytes,
                    first=hops.done == 0,
                    last=final,
                    stages=StageSeconds(stream.lap(), result.flow_seconds, result.vocoder_seconds),
                )
                hops = hops.after()
