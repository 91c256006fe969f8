"""Caches of streaming networks: what layers keep from one call to the next."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.models.attention import BlockCausalMask, attend, attend_relative

CachedTensors = tuple[Tensor, ...]

Projection = Callable[[Tensor], Tensor]
"""Embeds distances [n] between a query and a key as [1, heads, n, width]."""


class LayerCache:
    """Hands each layer its cached tensors, in the order in which the layers run, and collects the new ones.

    It lives for one call: made from the tensors of the caller's state, emptied into the next state by `tensors`. Cached
    tensors are never written to, so that a state may be continued more than once.
    """

    def __init__(self, past: Sequence[Tensor] = (), *, window: int | None = None, update: bool = True) -> None:
        """`window` bounds the keys and values that are kept; without `update` nothing is."""
        self._past = iter(past)
        self._fresh = len(past) == 0
        self._window = window
        self._update = update
        self._new: list[Tensor] = []

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        """`new` behind the last `length` samples before it, or at the start behind `first` zeros (default `length`)."""
        zeros = length if first is None else first
        before = new.new_zeros(*new.shape[:-1], zeros) if self._fresh else next(self._past)
        joined = torch.cat((before, new), dim=-1)
        self._keep_last(joined, length, -1)
        return joined

    @property
    def updates(self) -> bool:
        """True if the next call's cache is collected."""
        return self._update

    def past_context(self) -> Tensor | None:
        """The context of a layer that joins it to the new samples itself, and hands the next one to `keep`."""
        return None if self._fresh else next(self._past)

    def padding_of(self, length: int) -> tuple[Tensor, int] | None:
        """Frames of padding at the end of each row [batch], and a frame's part of the `length`; None without any."""
        return None

    def rows_before(self, new: Tensor, length: int) -> Tensor:
        """The last `length` rows before `new` [batch, time, width], zeros at the start; `keep_rows` keeps the next."""
        return new.new_zeros(len(new), length, new.shape[2]) if self._fresh else next(self._past)

    def keep_rows(self, joined: Tensor, length: int) -> None:
        """Keep the last `length` of rows [batch, time, width]."""
        self._keep_last(joined, length, -2)

    def append(self, new: Tensor) -> Tensor:
        """Keys or values `new` behind all cached ones; the last `window` of them are kept."""
        joined = new if self._fresh else torch.cat((next(self._past), new), dim=-2)
        self._keep_last(joined, joined.shape[-2] if self._window is None else self._window, -2)
        return joined

    def table(self, rows: int, make: Callable[[int, int], Tensor]) -> Tensor:
        """The first `rows` rows of a growing table; those not cached yet come from `make(start, stop)`."""
        if self._fresh:
            table = make(0, rows)
        else:
            table = next(self._past)
            if table.shape[-2] < rows:
                table = torch.cat((table, make(table.shape[-2], rows)), dim=-2)
        self._keep_last(table, table.shape[-2], -2)
        return table[..., :rows, :]

    def mask_padding(self, new: Tensor) -> Tensor:
        """`new` with zeros in place of padding at its end; here there is none."""
        return new

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: BlockCausalMask) -> Tensor:
        """Attention of new queries to all cached keys and the new ones, [batch, heads, time, width] all."""
        key, value = self.append(key), self.append(value)
        return attend(query, key, value, mask.tensor(query, key))

    def attend_relative(
        self, queries: tuple[Tensor, Tensor], key: Tensor, value: Tensor, project: Projection, mask: BlockCausalMask
    ) -> Tensor:
        """Attention with relative positions; `queries` are those for the keys' content and those for their distance.

        The embeddings of the distances to earlier keys are the same in every call, only more of them: they are cached,
        so that the cost of a call does not grow with the length of the stream.
        """
        content, position = queries
        key, value = self.append(key), self.append(value)
        device = key.device
        back = self.table(key.shape[-2], lambda start, stop: project(torch.arange(start, stop, device=device)))
        following = project(-torch.arange(1, content.shape[-2], device=device))
        distances = torch.cat((back.flip(-2), following), dim=-2)
        return attend_relative(content, position, key, value, distances, mask.tensor(content, key))

    def take(self) -> CachedTensors:
        """All cached tensors, for a network that runs as one graph; none at the start."""
        return tuple(self._past)

    def keep(self, new: Sequence[Tensor]) -> None:
        """All tensors of the next call's cache, likewise."""
        if self._update:
            self._new.extend(new)

    def tensors(self) -> CachedTensors:
        """The cache of the next call."""
        return tuple(self._new)

    def _keep_last(self, joined: Tensor, length: int, dim: int) -> None:
        if self._update:
            surplus = joined.shape[dim] - length
            # The copy releases the longer tensor that it was cut from.
            self._new.append(joined.narrow(dim, surplus, length).clone() if surplus > 0 else joined)


@dataclass(frozen=True, slots=True)
class PackedCache:
    """The cache of all layers and all calls so far in few tensors, so that it can be copied as a whole.

    `contexts` [n] holds the left contexts of all convolutions, flat, one behind the other; each of `kv` the keys and
    values that one call added to all layers, [2 * layers, batch, heads, positions, width]. Never written to.
    """

    contexts: Tensor
    kv: tuple[Tensor, ...]

    @property
    def length(self) -> int:
        """Cached positions of each layer."""
        return sum(each.shape[-2] for each in self.kv)

    @property
    def nbytes(self) -> int:
        return nbytes((self.contexts, *self.kv))

    def truncated(self, window: int | None) -> "PackedCache":
        """The cache with its last `window` positions only; None keeps all."""
        kv, surplus = list(self.kv), 0 if window is None else self.length - window
        while surplus > 0:
            oldest = kv.pop(0)
            if oldest.shape[-2] > surplus:
                # The copy releases the positions that are cut off.
                kv.insert(0, oldest[..., surplus:, :].clone())
            surplus -= oldest.shape[-2]
        return PackedCache(self.contexts, tuple(kv))


class PackedLayerCache(LayerCache):
    """A layer cache that is made from, and emptied into, a `PackedCache`; one call may run the network repeatedly."""

    def __init__(self, past: PackedCache | None, *, window: int | None = None, update: bool = True) -> None:
        super().__init__(window=window, update=update)
        self._before = past
        self._cursor = 0
        kv = () if past is None else past.kv
        self._layers: Iterator[tuple[Tensor, ...]] = zip(*(each.unbind() for each in kv), strict=True)
        self._contexts: list[Tensor] = []
        self._kv: list[Tensor] = []

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        if self._before is None:
            before = new.new_zeros(*new.shape[:-1], length if first is None else first)
        else:
            shape = (*new.shape[:-1], length)
            start, self._cursor = self._cursor, self._cursor + math.prod(shape)
            before = self._before.contexts[start : self._cursor].view(shape)
        joined = torch.cat((before, new), dim=-1)
        if self._update:
            self._contexts.append(joined[..., joined.shape[-1] - length :].flatten())
        return joined

    def append(self, new: Tensor) -> Tensor:
        if self._update:
            self._kv.append(new)
        return new if self._before is None else torch.cat((*next(self._layers), new), dim=-2)

    def packed(self) -> PackedCache | None:
        """The cache of the next call; None where it is not updated."""
        if not self._update:
            return None
        before = () if self._before is None else self._before.kv
        return PackedCache(torch.cat(self._contexts), (*before, torch.stack(self._kv))).truncated(self._window)


def nbytes(tensors: Sequence[Tensor]) -> int:
    """The memory that tensors take."""
    return sum(tensor.nbytes for tensor in tensors)
