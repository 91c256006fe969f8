"""What the layers of a causal network keep between two calls."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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

    def within(self, new: Tensor) -> Tensor:
        """`new` with zeros for what lies beyond the end of what there is indeed; here all of it is there."""
        return new

    def kept(self) -> Kept:
        """What the next call needs."""
        return tuple(self._kept)

    def _keep_last(self, joined: Tensor, length: int, dim: int) -> None:
        if self._remember:
            surplus = joined.shape[dim] - length
            # The copy lets go of the longer tensor that the kept part was cut from.
            self._kept.append(joined.narrow(dim, surplus, length).clone() if surplus > 0 else joined)


@dataclass(frozen=True, slots=True)
class Trail:
    """What all layers kept of all calls so far, in few tensors, so that it can be moved as a whole. Never written to.

    `tails` [n] holds what was kept at the ends, one layer's behind the other's; each of `rows` what one call added to
    the histories, [histories, batch, heads, rows, width].
    """

    tails: Tensor
    rows: tuple[Tensor, ...]

    @property
    def length(self) -> int:
        """How many rows there are in each history."""
        return sum(each.shape[-2] for each in self.rows)

    @property
    def nbytes(self) -> int:
        return nbytes((self.tails, *self.rows))

    def within(self, window: int | None) -> "Trail":
        """With the last `window` rows only; None keeps all."""
        rows, surplus = list(self.rows), 0 if window is None else self.length - window
        while surplus > 0:
            oldest = rows.pop(0)
            if oldest.shape[-2] > surplus:
                # The copy lets go of the rows that are cut off.
                rows.insert(0, oldest[..., surplus:, :].clone())
            surplus -= oldest.shape[-2]
        return Trail(self.tails, tuple(rows))


class TrailMemory(Memory):
    """A memory for one call that begins and ends as a trail; it may serve one network several times in a row."""

    def __init__(self, past: Trail | None, *, window: int | None = None, remember: bool = True) -> None:
        super().__init__(window=window, remember=remember)
        self._before = past
        self._cursor = 0
        rows = () if past is None else past.rows
        self._histories: Iterator[tuple[Tensor, ...]] = zip(*(each.unbind() for each in rows), strict=True)
        self._tails: list[Tensor] = []
        self._rows: list[Tensor] = []

    def tail(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        if self._before is None:
            before = new.new_zeros(*new.shape[:-1], length if first is None else first)
        else:
            shape = (*new.shape[:-1], length)
            start, self._cursor = self._cursor, self._cursor + math.prod(shape)
            before = self._before.tails[start : self._cursor].view(shape)
        joined = torch.cat((before, new), dim=-1)
        if self._remember:
            self._tails.append(joined[..., joined.shape[-1] - length :].flatten())
        return joined

    def history(self, new: Tensor) -> Tensor:
        if self._remember:
            self._rows.append(new)
        return new if self._before is None else torch.cat((*next(self._histories), new), dim=-2)

    def trail(self) -> Trail | None:
        """What the next call needs; nothing where nothing is to be remembered."""
        if not self._remember:
            return None
        before = () if self._before is None else self._before.rows
        return Trail(torch.cat(self._tails), (*before, torch.stack(self._rows))).within(self._window)


def nbytes(kept: Sequence[Tensor]) -> int:
    """How much memory kept tensors take."""
    return sum(tensor.nbytes for tensor in kept)
