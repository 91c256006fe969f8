"""One piece of text on its way to sound: tokens are decoded, and become samples chunk by chunk while more come."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, replace

from polyvox.engines.cosyvoice.casting import Cast
from polyvox.engines.cosyvoice.decoder import CosyVoiceDecoder
from polyvox.engines.cosyvoice.hops import Hops
from polyvox.engines.cosyvoice.recipe import Recipe
from polyvox.engines.cosyvoice.sound import MOST_TOKENS, Sound, Sounded, SoundState
from polyvox.engines.cosyvoice.turns import Turns, TurnSource
from polyvox.models.cosyvoice.lm import limits_for
from polyvox.models.cosyvoice.silence import SilentRun
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenStream
from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class Piece:
    """Who speaks, and where the draws come from."""

    role: Cast
    base: "asyncio.Future[SoundState]"
    """The voice before its first token. It is made while the first tokens are decoded, once for all pieces."""
    seed: int
    index: int

    @property
    def own_seed(self) -> int:
        """Pieces of one utterance draw differently, and always the same."""
        digest = hashlib.blake2b(f"{self.seed}/{self.index}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Samples, the tokens and mel frames that went into them, and the bytes that the flow keeps after them."""

    pcm: Pcm
    tokens: int
    frames: int
    seconds: float
    kept: int
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a stream of sound."""

    tokens: tuple[int, ...]
    state: SoundState
    final: bool


@dataclass(frozen=True, slots=True)
class Timed:
    """What a step gave and the seconds the device spent on it."""

    sounded: Sounded
    seconds: float


def sounded(sound: Sound, hops: list[Hop]) -> list[Timed]:
    """Run steps one after the other."""
    results = []
    for hop in hops:
        began = time.perf_counter()
        result = sound.step(hop.tokens, hop.state, final=hop.final)
        results.append(Timed(result, time.perf_counter() - began))
    return results


class Player:
    """When the caller's player runs dry: it starts with the first chunk and plays on as long as there are more."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.due = clock()

    def given(self, seconds: float) -> None:
        """The player has got more."""
        self.due = max(self.due, self._clock()) + seconds


class _Heard:
    """The tokens of a stream that are to be heard; in version 3 long silences are cut short."""

    def __init__(self, stream: TokenStream, *, cuts_silence: bool) -> None:
        self._stream = stream
        self._silence = SilentRun() if cuts_silence else None
        self.tokens: list[int] = []

    async def reach(self, count: int) -> None:
        """Wait for so many, or for the end; what broke the stream comes behind its tokens."""
        while len(self.tokens) < count and (fresh := await self._stream.read(count - len(self.tokens))):
            self.tokens += [token for token in fresh if self._heard(token)]

    def _heard(self, token: int) -> bool:
        if self._silence is None:
            return True
        self._silence = self._silence.after(token)
        return not self._silence.too_long


class PieceMaker:
    """Speaks pieces; it holds nothing of theirs.

    `original` keeps back, before the least length, only what the original keeps back, which in version 3 is nothing.
    """

    def __init__(
        self,
        recipe: Recipe,
        decoder: CosyVoiceDecoder,
        source: TurnSource,
        stage: Stage[Hop, Timed],
        *,
        original: bool = False,
    ) -> None:
        self._recipe = recipe
        self._decoder = decoder
        self._source = source
        self._stage = stage
        self._original = original
        self.block, self.ahead = recipe.flow.flow.block, recipe.flow.flow.ahead

    async def speak(self, piece: Piece, ids: Sequence[int], hops: Hops, player: Player) -> AsyncGenerator[Chunk]:
        """The chunks of a text that is all there."""
        prompt = Prompt(ids=self._decoder.prompt((*piece.role.prompt_text, *ids), piece.role.prompt_speech))
        tokens = self._source.generate(prompt, self._sampling(piece), self.limits(len(ids)))
        async with aclosing(self._chunks(tokens, piece, hops, player)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def read(
        self, piece: Piece, phrases: AsyncIterator[tuple[int, ...]], hops: Hops, player: Player
    ) -> AsyncGenerator[Chunk]:
        """The chunks of a text whose ids are still arriving."""
        turns = Turns(self._source, self._decoder, self.limits)
        tokens = turns.tokens(piece.role.bistream(self._recipe.lm.speech), phrases, self._sampling(piece))
        async with aclosing(self._chunks(tokens, piece, hops, player)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def say(self, piece: Piece, tokens: Sequence[int], hops: Hops, player: Player) -> AsyncGenerator[Chunk]:
        """The chunks of speech tokens that are known."""
        stream = TokenStream()
        stream.push(tokens)
        stream.finish()
        async with aclosing(self._chunks(nullcontext(stream), piece, hops, player, whole=True)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _chunks(
        self,
        tokens: AbstractAsyncContextManager[TokenStream],
        piece: Piece,
        hops: Hops,
        player: Player,
        *,
        whole: bool = False,
    ) -> AsyncGenerator[Chunk]:
        """A chunk is made as soon as its tokens and those it looks ahead to are known, whether or not more follow, so
        that where chunks end depends on nothing but the tokens; `whole` leaves long silences in.
        """
        async with tokens as stream:
            heard = _Heard(stream, cuts_silence=self._recipe.version == 3 and not whole)
            await heard.reach(hops.needed)
            state, given, final = replace(await asyncio.shield(piece.base), seed=piece.own_seed), 0, False
            while not final:
                await heard.reach(hops.needed)
                final = len(heard.tokens) < hops.needed
                known = len(heard.tokens) if final else hops.needed
                end = known if final else hops.end
                hop = Hop(tuple(heard.tokens[given:known]), state, final)
                timed = await self._stage(hop, due=player.due)
                state, given = timed.sounded.state, known
                yield Chunk(
                    timed.sounded.pcm,
                    end - hops.done,
                    timed.sounded.frames,
                    timed.seconds,
                    0 if final else state.nbytes,
                    first=hops.done == 0,
                    last=final,
                )
                hops = hops.after()

    def _sampling(self, piece: Piece) -> SamplingParams:
        return replace(sampling_of(self._recipe), seed=piece.own_seed)

    def limits(self, text_ids: int) -> GenerationLimits:
        """How long the speech of so many ids of text may be."""
        speech = self._recipe.lm.speech
        limits = limits_for(text_ids, speech, original=self._original)
        most = min(limits.most, MOST_TOKENS)
        return GenerationLimits(
            most,
            min(limits.least, most),
            stop_tokens=frozenset(range(speech.speech, speech.rows)),
            held_tokens=frozenset(range(speech.rows)[limits.suppressed]),
        )


def sampling_of(recipe: Recipe) -> SamplingParams:
    """How this model chooses its tokens."""
    rules = recipe.sampling
    return SamplingParams(
        top_k=rules.top_k, top_p=rules.top_p, repeat_window=rules.window, repeat_share=rules.tolerated_share
    )
