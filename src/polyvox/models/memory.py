"""What the layers of a causal network keep between two calls."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Kept = tuple[Tensor, ...]


class Memory:
    """Hands each layer what it kept in the call before, in the order in which the layers run, and collects the new.

    It lives for one call: made from the tensors of the caller's state, emptied into the next state by `kept`. The
    tensors themselves are never written to, so that a state may be continued more than once.
    """

    def __init__(self, past: Sequence[Tensor] = (), *, window: int | None = None, remember: bool = True) -> None:
        self._past = iter(past)
        self._fresh = len(past) == 0
        self._window = window
        self._remember = remember
        self._kept: list[Tensor] = []

    def tail(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        """`new` behind the last `length` samples before it; `first` zeros (by default `length`) stand at the start."""
        zeros = length if first is None else first
        before = new.new_zeros(*new.shape[:-1], zeros) if self._fresh else next(self._past)
        joined = torch.cat((before, new), dim=-1)
        self._keep_last(joined, length, -1)
        return joined

    def history(self, new: Tensor) -> Tensor:
        """`new` behind all rows before it, or behind the last `window` of them."""
        joined = new if self._fresh else torch.cat((next(self._past), new), dim=-2)
        self._keep_last(joined, joined.shape[-2] if self._window is None else self._window, -2)
        return joined

    def table(self, rows: int, made: Callable[[int, int], Tensor]) -> Tensor:
        """The first `rows` rows of a growing table; those not made in earlier calls come from `made(start, stop)`."""
        if self._fresh:
            table = made(0, rows)
        else:
            table = next(self._past)
            if table.shape[-2] < rows:
                table = torch.cat((table, made(table.shape[-2], rows)), dim=-2)
        self._keep_last(table, table.shape[-2], -2)
        return table[..., :rows, :]

    def kept(self) -> Kept:
        """What the next call needs."""
        return tuple(self._kept)

    def _keep_last(self, joined: Tensor, length: int, dim: int) -> None:
        if self._remember:
            surplus = joined.shape[dim] - length
            # The copy lets go of the longer tensor that the kept part was cut from.
            self._kept.append(joined.narrow(dim, surplus, length).clone() if surplus > 0 else joined)


def nbytes(kept: Sequence[Tensor]) -> int:
    """How much memory kept tensors take."""
    return sum(tensor.nbytes for tensor in kept)
