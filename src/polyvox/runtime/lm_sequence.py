"""One sequence of a language model: its input, its KV cache's length, and its tokens on their way out."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence

from torch import Tensor

from polyvox.runtime.lm_step import PrefillChunk, SlotText, Token
from polyvox.runtime.sampling.sampler import NO_TOKEN
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenStream

Extend = Callable[["LmSequence", Prompt, GenerationLimits], TokenStream]


class LmSequence:
    """One sequence in its slot. Its owner extends it by input and reads the tokens that follow."""

    def __init__(
        self,
        extend: Extend,
        slot: int,
        sampling: SamplingParams,
        frame: SamplingParams | None = None,
        on_text: Callable[[], None] = lambda: None,
    ) -> None:
        """`frame` samples the codes behind a frame's first; `on_text` is called when text was appended."""
        self._extend = extend
        self._on_text = on_text
        self.slot = slot
        self.sampling = sampling
        self.frame = frame
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
        self.text: list[int] = []
        """Ids that are added to frames, one a frame, and that no step has been given yet."""
        self.text_given = 0
        """Ids that steps have been given."""
        self.text_open = False
        """True while more text may come: no frame may be fed without its text."""
        self.save_prefix: tuple[Hashable, int] | None = None
        """Key and length of the prefix to be saved once it is in the KV cache."""
        self.stream = TokenStream()
        self.stream.finish()
        self.closed = False

    def extend(self, prompt: Prompt, limits: GenerationLimits) -> TokenStream:
        """Append input, and then generate tokens within these limits.

        All tokens of the stream before stay part of the sequence, except the stop token that ended it.
        """
        return self._extend(self, prompt, limits)

    def add_text(self, ids: Iterable[int], *, ended: bool) -> None:
        """Append text that is added to the frames to come, one id a frame; a frame waits for its id until the end."""
        self.text.extend(ids)
        self.text_open = not ended
        self._on_text()

    @property
    def frames_with_text(self) -> float:
        """Further frames whose text is there: any number behind the text's end."""
        # The frame behind the prompt needs none, and takes the first id when it is fed.
        given = self.text_given + len(self.text) + 1
        return given - self.generated - self.coming if self.text_open else math.inf

    def take_text(self) -> SlotText | None:
        """The text for the next step, which counts as given."""
        if not self.text:
            return None
        text = SlotText(self.slot, self.text_given, tuple(self.text))
        self.text_given += len(self.text)
        self.text.clear()
        return text

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

    def append_tokens(self, tokens: Sequence[Token], *, cached: int) -> bool:
        """Pass sampled tokens on to the reader; a stop token or the last one allowed ends the stream.

        Before each, `cached` more positions are in the KV cache. Returns False at the first that failed.
        """
        passed: list[int] = []
        taken = 0
        stopped = failed = False
        for token in tokens[: self.limits.max_tokens - self.generated]:
            first = token if isinstance(token, int) else token[0]
            failed = first == NO_TOKEN
            if failed:
                self.cached += cached
                break
            taken += 1
            stopped = first in self.limits.stop_tokens
            if stopped:
                break
            passed += (token,) if isinstance(token, int) else token
        self.cached += taken * cached
        self.generated += taken
        self.coming -= taken
        if taken:
            self.last_pending = not stopped
        if passed:
            self.stream.push(passed)
        if stopped or self.generated >= self.limits.max_tokens:
            self.stream.finish()
        return not failed
