"""One sequence of a language model: its input, its KV cache's length, and its tokens on their way out."""

from collections.abc import Callable

from torch import Tensor

from polyvox.runtime.lm_step import PrefillChunk
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenStream

Extend = Callable[["LmSequence", Prompt, GenerationLimits], TokenStream]


class LmSequence:
    """One sequence in its slot. Its owner extends it by input and reads the tokens that follow."""

    def __init__(self, extend: Extend, slot: int, sampling: SamplingParams) -> None:
        self._extend = extend
        self.slot = slot
        self.sampling = sampling
        self.cached = 0
        """Positions in the KV cache."""
        self.pending: tuple[int, ...] | Tensor = ()
        """Input that is not in the KV cache yet."""
        self.last_pending = False
        """True if the token sampled last is not in the KV cache yet."""
        self.limits = GenerationLimits(0)
        self.generated = 0
        """Tokens read since the sequence was last extended."""
        self.coming = 0
        """Tokens of steps that were launched and not read yet."""
        self.position = 0
        """Position at which the next step feeds the last token: `cached` and the tokens that are coming."""
        self.save_prefix: tuple[tuple[int, ...], int] | None = None
        """Key and length of the prefix to be saved once it is in the KV cache."""
        self.stream = TokenStream()
        self.stream.finish()
        self.closed = False

    def extend(self, prompt: Prompt, limits: GenerationLimits) -> TokenStream:
        """Append input, and then generate tokens within these limits.

        All tokens of the stream before stay part of the sequence, except the stop token that ended it.
        """
        return self._extend(self, prompt, limits)

    def next_chunk(self, most: int) -> PrefillChunk:
        """The next chunk of the pending input, no longer than `most` positions."""
        split = most - self.last_pending
        part, rest = self.pending[:split], self.pending[split:]
        save = self.save_prefix if self.save_prefix and self.cached + len(part) >= self.save_prefix[1] else None
        return PrefillChunk(
            self.slot, self.cached, part, last=not len(rest), prepend_last=self.last_pending, save_prefix=save
        )

    def prefills(self, chunk: PrefillChunk) -> None:
        """Account for a chunk that the next step puts into the KV cache."""
        self.pending = self.pending[len(chunk.input) :]
        self.cached += chunk.length
        self.position = self.cached
        self.last_pending = False
        self.coming += chunk.last
        if chunk.save_prefix:
            self.save_prefix = None

    def decodes(self, tokens: int) -> None:
        """Account for so many tokens that the next step decodes, unless one ends the sequence."""
        self.position += tokens
        self.coming += tokens

    def append_token(self, token: int) -> None:
        """Pass a sampled token on to the reader; a stop token or the last one allowed ends the stream."""
        self.generated += 1
        self.coming -= 1
        if token in self.limits.stop_tokens:
            self.last_pending = False
            self.stream.finish()
            return
        self.last_pending = True
        self.stream.push((token,))
        if self.generated >= self.limits.max_tokens:
            self.stream.finish()
