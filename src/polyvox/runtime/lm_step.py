"""What a language model's device is asked to do before anybody is asked again, and what came of it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from polyvox.runtime.sampling import Steps
from polyvox.runtime.tokens import Limits, Sampling


@dataclass(frozen=True, slots=True)
class Begin:
    """A sequence takes a slot, with the beginning of an earlier prompt where it has the same."""

    slot: int
    sampling: Sampling
    seed: int
    seen: tuple[int, ...]
    prefix: Tensor | None


@dataclass(frozen=True, slots=True)
class Turn:
    """The sequence in a slot goes on under these limits."""

    slot: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class Piece:
    """Input for one slot from position `start` on: ids, or input rows [m, hidden]. The `last` one is answered.

    `follows` says that the token drawn last stands before the piece's own input and has not been read yet. Once the
    piece has been read, the first positions up to `keep[1]` are to be kept under `keep[0]`.
    """

    slot: int
    start: int
    input: tuple[int, ...] | Tensor
    last: bool
    follows: bool = False
    keep: tuple[Hashable, int] | None = None

    @property
    def length(self) -> int:
        return len(self.input) + self.follows

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class Step:
    """All that happens before anybody is asked again."""

    begins: Sequence[Begin] = ()
    turns: Sequence[Turn] = ()
    pieces: Sequence[Piece] = ()
    decoding: Sequence[int] = ()
    """Slots whose last token is read and followed by others."""
    lengths: Sequence[int] = ()
    """How many positions each of these slots holds so far."""
    tokens: int = 1
    """How many each of them draws, unless it ends before."""
    sampling: Steps = field(default_factory=lambda: Steps(0, redraws=False))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The tokens of one step and what it took.

    `first` answers the pieces that were last, in their order; `following` has all tokens of each decoding slot. What
    stands behind a sequence's end means nothing.
    """

    first: list[int]
    following: list[list[int]]
    kept: list[tuple[Hashable, Tensor]]
    prefill_seconds: float
    decode_seconds: float


class PieceTable:
    """Pieces side by side as numbers, [n, 5 + width]: where each belongs, who draws behind it, and its ids.

    Rows beyond the pieces are nobody's: they belong to the spare slot, have one id, and draw for that slot. So does
    a piece that is not the last of its prompt.
    """

    _HEAD = 5

    def __init__(self, numbers: Tensor) -> None:
        self.slots, self.starts, self.lengths, follows, self.answering = numbers[:, : self._HEAD].unbind(1)
        self.follows = follows.bool()
        self.ids = numbers[:, self._HEAD :]

    @classmethod
    def numbers(cls, pieces: Sequence[Piece], rows: int, width: int, spare: int) -> Tensor:
        """The table of pieces, so many rows of so many positions, in the host's memory."""
        table = [[spare, 0, 1, 0, spare] + [0] * width for _ in range(rows)]
        for row, piece in zip(table, pieces, strict=False):
            row[: cls._HEAD] = piece.slot, piece.start, piece.length, piece.follows, piece.slot if piece.last else spare
            if not isinstance(piece.input, Tensor):
                first = cls._HEAD + piece.follows
                row[first : first + len(piece.input)] = piece.input
        return torch.tensor(table)
