"""Tokens of a language model on their way to a reader: what is asked for, and the stream that answers.

A model in this process and one behind a server are asked the same way: `TokenSource`.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from polyvox.errors import PolyvoxError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. Temperature 0 takes the likeliest one.

    Of the tokens by falling probability, those count that are among the first `top_k` (0: all) and before which less
    than `top_p` has come together. A token that the prompt or the speech already holds is made less likely by
    `repetition_penalty`. Where `repeat_window` is not 0, a token that fills at least `repeat_share` of the last
    `repeat_window` tokens is drawn again, from all the others. The same seed draws the same tokens; None leaves it to
    chance.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    repeat_window: int = 0
    repeat_share: float = 0.1
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """When a sequence ends: at one of `ends`, though not before `least` tokens, or after `most`.

    `banned` tokens are never drawn. Where `held` is given, only those ends are kept back before `least`.
    """

    most: int
    least: int = 0
    ends: frozenset[int] = frozenset()
    banned: frozenset[int] = frozenset()
    held: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a sequence begins with, in the forms that a source may need.

    `ids` or `rows` (input rows of the model) are for one in this process, `text` or `ids` for one behind a server. The
    first `shared` positions are worth keeping for prompts that begin with the same ids. `seen` are the tokens that a
    repetition penalty finds in the prompt.
    """

    ids: tuple[int, ...] = ()
    text: str = ""
    rows: "Tensor | None" = None
    shared: int = 0
    seen: tuple[int, ...] = ()


class TokenStream:
    """The tokens of one sequence: whoever makes them pushes, one reader reads, and `on_read` hears of it."""

    def __init__(self, on_read: Callable[[], None] = lambda: None) -> None:
        self._on_read = on_read
        self._tokens: deque[int] = deque()
        self._over = False
        self._error: PolyvoxError | None = None
        self._wanted = 1
        self._ready = asyncio.Event()
        self._moved = asyncio.Event()

    @property
    def unread(self) -> int:
        """How many tokens wait for the reader."""
        return len(self._tokens)

    @property
    def missing(self) -> int:
        """How many more tokens the reader waits for; none, where it has not come back yet."""
        return max(0, self._wanted - len(self._tokens))

    @property
    def over(self) -> bool:
        """Whether the last token has been pushed."""
        return self._over

    def push(self, tokens: Iterable[int]) -> None:
        self._tokens.extend(tokens)
        if len(self._tokens) >= self._wanted:
            self._ready.set()

    def finish(self, error: PolyvoxError | None = None) -> None:
        """Nothing more will come; a reader gets the error behind the tokens that are there."""
        if not self._over:
            self._over, self._error = True, error
            self._ready.set()

    async def read(self, at_least: int = 1) -> list[int]:
        """All tokens that are there, once there are so many; fewer only at the end, none after it."""
        self._want(at_least)
        while len(self._tokens) < at_least and not self._over:
            self._ready.clear()
            await self._ready.wait()
        if not self._tokens and self._error is not None:
            raise self._error
        tokens = list(self._tokens)
        self._tokens.clear()
        self._want(1)
        return tokens

    def ahead(self, most: int) -> bool:
        """Whether at least `most` tokens wait for the reader, and as many as it waits for."""
        return len(self._tokens) >= max(most, self._wanted)

    async def below(self, most: int) -> None:
        """Wait until the stream is no longer `ahead`."""
        while self.ahead(most):
            self._moved.clear()
            await self._moved.wait()

    def _want(self, count: int) -> None:
        self._wanted = count
        self._moved.set()
        self._on_read()

    async def __aiter__(self) -> AsyncIterator[int]:
        while tokens := await self.read():
            for token in tokens:
                yield token


class TokenSource(Protocol):
    """Whatever continues a prompt by tokens."""

    def generate(self, prompt: Prompt, sampling: Sampling, limits: Limits) -> AbstractAsyncContextManager[TokenStream]:
        """The tokens behind a prompt, while the block lasts; leaving it ends the sequence and frees all it held."""

    async def close(self) -> None:
        """Sequences still under way fail."""
