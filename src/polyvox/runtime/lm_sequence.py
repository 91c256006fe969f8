"""One sequence of a language model: what it has read and drawn, and what comes next."""

from collections.abc import Callable

from torch import Tensor

from polyvox.runtime.lm_step import Piece
from polyvox.runtime.tokens import Limits, Prompt, Sampling, TokenStream

GoOn = Callable[["LmSequence", Prompt, Limits], TokenStream]


class LmSequence:
    """One sequence in its slot. Its owner lets it go on by input and reads the tokens that follow."""

    def __init__(self, go_on: GoOn, slot: int, sampling: Sampling) -> None:
        self._go_on = go_on
        self.slot = slot
        self.sampling = sampling
        self.length = 0
        """Positions read so far."""
        self.input: tuple[int, ...] | Tensor = ()
        self.follows = False
        """Whether the token drawn last has not been read."""
        self.limits = Limits(0)
        self.drawn = 0
        """Tokens drawn since the sequence last went on."""
        self.keep: tuple[tuple[int, ...], int] | None = None
        self.stream = TokenStream()
        self.stream.finish()
        self.closed = False

    def go_on(self, prompt: Prompt, limits: Limits) -> TokenStream:
        """Read more input, and then draw tokens under these limits.

        All tokens of the stream before are read too, but not the one of its `ends` that ended it.
        """
        return self._go_on(self, prompt, limits)

    @property
    def reading(self) -> bool:
        """Whether input is left to be read."""
        return len(self.input) > 0

    def next_piece(self, most: int) -> Piece:
        """The next stretch of the input, no longer than `most`."""
        part, rest = self.input[: most - self.follows], self.input[most - self.follows :]
        keep = self.keep if self.keep and self.length + len(part) >= self.keep[1] else None
        return Piece(self.slot, self.length, part, last=not len(rest), follows=self.follows, keep=keep)

    def was_read(self, piece: Piece) -> None:
        """The device has read a piece of this sequence's."""
        self.input = self.input[len(piece.input) :]
        self.length += piece.length
        self.follows = False
        if piece.keep:
            self.keep = None

    def accept(self, token: int) -> None:
        """A token was drawn: it goes to the reader, or ends the stream."""
        self.drawn += 1
        if token in self.limits.ends:
            self.follows = False
            self.stream.finish()
            return
        self.follows = True
        self.stream.push((token,))
        if self.drawn >= self.limits.most:
            self.stream.finish()
