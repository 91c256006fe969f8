"""Requests to a language model and the stream of tokens that answers, whether it runs here or on a server."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from polyvox.errors import PolyvoxError
from polyvox.types import Seconds

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Parameters of the sampling of the next token. Temperature 0 is greedy; `top_k` 0 keeps all tokens.

    `min_p` leaves out tokens that are less likely than that share of the likeliest, before the other limits. `guidance`
    is how far the logits of a guided sequence are moved away from those without guidance. `repetition_penalty` applies
    to tokens of the prompt and of the speech so far. Where `repeat_window` is not 0, a token that fills at least
    `repeat_share` of the last `repeat_window` tokens is drawn again, from all the others. The same seed samples the
    same tokens; None draws a seed.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    repeat_window: int = 0
    repeat_share: float = 0.1
    seed: int | None = None
    min_p: float = 0.0
    guidance: float = 0.0


@dataclass(frozen=True, slots=True)
class GenerationLimits:
    """The end of a sequence: at one of `stop_tokens`, though not before `min_tokens`, or after `max_tokens`.

    `banned_tokens` are never sampled. Where `held_tokens` is given, only those are held back before `min_tokens`, and
    not all stop tokens.
    """

    max_tokens: int
    min_tokens: int = 0
    stop_tokens: frozenset[int] = frozenset()
    banned_tokens: frozenset[int] = frozenset()
    held_tokens: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """Input of a sequence, in the forms that a source may need.

    `ids` or `embeds` (input embeddings [n, hidden]) are for a model in this process, `text` or `ids` for one on a
    server. The first `shared` positions are a prefix worth caching. `seen` are the prompt's tokens for the repetition
    penalty.
    """

    ids: tuple[int, ...] = ()
    text: str = ""
    embeds: "Tensor | None" = None
    shared: int = 0
    seen: tuple[int, ...] = ()
    key: Hashable | None = None
    """Names the shared prefix of `embeds`; that of `ids` is its own name."""


class TokenStream:
    """The tokens of one sequence, from its producer to one reader; `on_read` is called at every read."""

    def __init__(self, on_read: Callable[[], None] = lambda: None) -> None:
        self._on_read = on_read
        self._tokens: deque[int] = deque()
        self._waited = 0.0
        self._charged: float | None = None
        self._over = False
        self._error: PolyvoxError | None = None
        self._wanted = 1
        self._held = False
        self._ready = asyncio.Event()
        self._was_read = asyncio.Event()

    @property
    def unread(self) -> int:
        """Number of tokens that wait for the reader."""
        return len(self._tokens)

    @property
    def missing(self) -> int:
        """Number of further tokens that the reader waits for; 0 while it does not wait."""
        return max(0, self._wanted - len(self._tokens))

    @property
    def held(self) -> bool:
        """True while no tokens are wanted beyond those that the reader waits for; a producer may disregard it."""
        return self._held

    def hold(self) -> None:
        """Want no further tokens but while the reader waits for some, until `release`."""
        self._held = True
        self._want(0)

    def release(self) -> None:
        """Want tokens again before the reader asks for them."""
        self._held = False
        self._want(1)

    @property
    def over(self) -> bool:
        """True if the last token has been pushed."""
        return self._over

    def push(self, tokens: Iterable[int]) -> None:
        self._tokens.extend(tokens)
        if len(self._tokens) >= self._wanted:
            self._ready.set()

    def finish(self, error: PolyvoxError | None = None) -> None:
        """End the stream; the reader gets the error behind the tokens that are there."""
        if not self._over:
            self._over, self._error = True, error
            self._ready.set()

    async def read(self, at_least: int = 1) -> list[int]:
        """Wait for `at_least` tokens and take all that are there; fewer only at the end, none after it."""
        self._want(at_least)
        began = time.perf_counter()
        while len(self._tokens) < at_least and not self._over:
            self._ready.clear()
            await self._ready.wait()
        self._waited += time.perf_counter() - began
        if not self._tokens and self._error is not None:
            raise self._error
        tokens = list(self._tokens)
        self._tokens.clear()
        self._want(0 if self._held else 1)
        return tokens

    def charge(self, seconds: float) -> None:
        """Count the sequence's share of a step's time; a server's steps are not known."""
        self._charged = (self._charged or 0.0) + seconds

    def lap(self) -> Seconds:
        """The reader's wait and the device's time for the tokens since this was last asked."""
        spent = Seconds(self._waited, self._charged)
        self._waited, self._charged = 0.0, None if self._charged is None else 0.0
        return spent

    def is_ahead(self, most: int, coming: int = 0) -> bool:
        """Return whether `most` tokens or more wait for the reader, and as many as it asks for; `coming` ones count."""
        return len(self._tokens) + coming >= max(most, self._wanted)

    async def wait_while_ahead(self, most: int) -> None:
        """Wait until the reader has caught up."""
        while self.is_ahead(most):
            self._was_read.clear()
            await self._was_read.wait()

    def _want(self, count: int) -> None:
        self._wanted = count
        self._was_read.set()
        self._on_read()

    async def __aiter__(self) -> AsyncIterator[int]:
        while tokens := await self.read():
            for token in tokens:
                yield token


class TokenSource(Protocol):
    """Generates tokens behind prompts: `LmScheduler` in this process, or `RemoteLm`."""

    def generate(
        self, prompt: Prompt, sampling: SamplingParams, limits: GenerationLimits
    ) -> AbstractAsyncContextManager[TokenStream]:
        """The tokens behind a prompt, while the block lasts; leaving it ends the sequence and frees all it held."""

    async def close(self) -> None:
        """Fail the sequences that are still running."""
