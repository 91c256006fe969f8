"""The contract between scheduler and runner: one step's plan, and its output."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from polyvox.runtime.sampling.sampler import SamplingPlan
from polyvox.runtime.shared_prefixes import SavedPrefix
from polyvox.runtime.tokens import GenerationLimits, SamplingParams

Token = int | list[int]
"""A token, or the codes of a frame that begins with one."""


@dataclass(frozen=True, slots=True)
class SlotStart:
    """A new sequence takes a slot, with the KV cache of a prompt prefix where one was saved.

    `shared` is that prefix's length, or that of the one which the sequence is to save, or 0.
    `clear` empties the slot first, because the sequence before left values in it that are not finite.
    """

    slot: int
    sampling: SamplingParams
    seed: int
    seen: tuple[int, ...]
    prefix: SavedPrefix | None
    shared: int = 0
    clear: bool = False
    frame: SamplingParams | None = None
    """Sampling of the codes behind a frame's first, for models that generate frames."""


@dataclass(frozen=True, slots=True)
class SlotText:
    """Ids of text that are added to a slot's frames, one a frame, from number `start` on."""

    slot: int
    start: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """The limits under which a slot's sequence generates from now on."""

    slot: int
    limits: GenerationLimits


@dataclass(frozen=True, slots=True)
class PrefillChunk:
    """Input for one slot from position `start` on: ids, or embeddings [m, hidden].

    A token is sampled behind the `last` chunk of a prompt. `prepend_last` puts the slot's last sampled token, which is
    not in the KV cache yet, before the chunk's own input. `save_prefix` is a key and a length: that many first
    positions of the slot are saved under the key after the chunk.
    """

    slot: int
    start: int
    input: tuple[int, ...] | Tensor
    last: bool
    prepend_last: bool = False
    save_prefix: tuple[Hashable, int] | None = None

    @property
    def length(self) -> int:
        return len(self.input) + self.prepend_last

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class StepPlan:
    """All that the device does before the scheduler is asked again: prefill chunks, then `tokens` decode steps."""

    starts: Sequence[SlotStart] = ()
    texts: Sequence[SlotText] = ()
    limits: Sequence[SlotLimits] = ()
    chunks: Sequence[PrefillChunk] = ()
    decoding: Sequence[int] = ()
    """Slots that decode."""
    lengths: Sequence[int] = ()
    """Positions in the KV cache of each of these slots."""
    tokens: int = 1
    """Tokens that each of them generates, unless it ends before."""
    sampling: SamplingPlan = field(default_factory=lambda: SamplingPlan(0, redraws=False))


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The tokens of one step and their cost.

    `first` has the tokens behind the last chunks of prompts, in their order; `following` all tokens of each decoding
    slot. Tokens behind a sequence's end are meaningless. Where the model generates frames, each token is a list of a
    frame's codes.
    """

    first: list[Token]
    following: list[list[Token]]
    prefill_seconds: float
    decode_seconds: float


class RunningStep(Protocol):
    """A step that the device has been given, and may not have ended."""

    @property
    def prefixes(self) -> list[tuple[Hashable, SavedPrefix]]:
        """The prefixes that were to be saved, for later steps."""

    @property
    def prefill_error(self) -> Exception | None:
        """The error for which the prompts could not be read; the other sequences decode all the same."""

    def wait_nearly_done(self) -> None:
        """Wait until little is left of the step, so that it is time to prepare the next."""

    def output(self) -> StepOutput:
        """Wait for the step's end."""


class PrefillTable:
    """Chunks as one integer tensor, [n, 5 + width]: slot, start, length, whether the last token is prepended, sampling
    slot, and then the ids.

    Padding rows belong to the spare slot, have one id, and sample for that slot. So does a chunk that is not the last
    of its prompt.
    """

    _HEAD = 5

    def __init__(self, table: Tensor) -> None:
        self.slots, self.starts, self.lengths, prepend_last, self.sampling_slots = table[:, : self._HEAD].unbind(1)
        self.prepend_last = prepend_last.bool()
        self.ids = table[:, self._HEAD :]

    @classmethod
    def pack(cls, chunks: Sequence[PrefillChunk], rows: int, width: int, spare: int) -> Tensor:
        """The table of chunks, padded to so many rows and positions, in host memory."""
        table = [[spare, 0, 1, 0, spare] + [0] * width for _ in range(rows)]
        for row, chunk in zip(table, chunks, strict=False):
            sampling_slot = chunk.slot if chunk.last else spare
            row[: cls._HEAD] = chunk.slot, chunk.start, chunk.length, chunk.prepend_last, sampling_slot
            if not isinstance(chunk.input, Tensor):
                first = cls._HEAD + chunk.prepend_last
                row[first : first + len(chunk.input)] = chunk.input
        return torch.tensor(table)
