"""A paged cache of a streaming network: what layers keep of each block, in tensors that all streams share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache, Projection
from polyvox.models.paged_attention import BlockTable, PagedAttention

KeyStore = Callable[[Tensor, Tensor, Tensor, BlockTable, "tuple[Tensor, Tensor] | None"], Tensor]
"""Stores the keys and values of one tensor in their blocks, and returns the queries."""

ZERO_BLOCK = 0
"""A block of zeros, which stands before the first of a stream. It is never written to."""
SPARE_BLOCK = 1
"""The block that padding rows of a call write to."""
RESERVED_BLOCKS = 2


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """The tensors of one block in the order in which the layers ask for them, without the dimension of blocks."""

    contexts: tuple[torch.Size, ...]
    """[branches, channels, length] of each left context."""
    kv: tuple[torch.Size, ...]
    """[branches, heads, length, width] of the keys of each attention; values have the same."""
    dtype: torch.dtype

    @property
    def nbytes(self) -> int:
        elements = sum(math.prod(shape) for shape in self.contexts) + 2 * sum(math.prod(shape) for shape in self.kv)
        return elements * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class ContextRows:
    """The left context of one convolution, for a kernel that fills and reads it while rows of the call follow others.

    What a row leaves to the next one of its stream cannot be read from the cache by the kernel that writes it there.
    """

    held: Tensor
    """[blocks, branches, length, channels], a view of the cache."""
    table: BlockTable
    followers: Tensor
    """The row of the call with the next block of the same stream, or -1, [n]."""
    leads: Tensor
    """True for rows whose block before is in the cache already, and not a row of the call, [n]."""


class PagedCache:
    """The memory of `blocks` blocks. What a block holds is written once, by the call that computes it."""

    def __init__(self, layout: BlockLayout, blocks: int, attention: PagedAttention, device: torch.device) -> None:
        self.layout, self.attention = layout, attention

        def room(shape: torch.Size) -> Tensor:
            return torch.empty(blocks, *shape, dtype=layout.dtype, device=device)

        self.contexts = [room(shape) for shape in layout.contexts]
        self.kv = [(room(shape), room(shape)) for shape in layout.kv]
        self.tables: dict[int, Tensor] = {}
        """Embedded distances of each attention with relative positions, from that of the block's length on upwards."""
        for each in self.contexts:
            each[ZERO_BLOCK].zero_()


class PagedLayerCache(LayerCache):
    """Hands each layer what the block before holds, and keeps in the cache what it computes for its own block.

    Rows of a call are blocks of any streams, those of one stream in their order. A batch may be a multiple of them: the
    branches of a guided network, one behind the other.
    """

    def __init__(self, cache: PagedCache, table: BlockTable, most: int) -> None:
        """`most` is the largest of the table's counts."""
        super().__init__(update=False)
        self._cache, self._table, self._most = cache, table, most
        self._context, self._attention = 0, 0

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        held = self._cache.contexts[self._context]
        self._context += 1
        count = len(self._table.blocks)
        tail = new[..., new.shape[-1] - length :].view(-1, count, *new.shape[1:-1], length)
        held[self._table.blocks] = tail.transpose(0, 1)
        before = held[self._table.previous].transpose(0, 1).flatten(0, 1)
        return torch.cat((before, new), dim=-1)

    def left_rows(self, new: Tensor, length: int) -> Tensor:
        """As `left_context`, over [batch, time, channels]. A cache is used by one of the two only."""
        held = self._next_rows(length)
        tail = new[:, new.shape[1] - length :].view(-1, len(self._table.blocks), length, new.shape[2])
        held[self._table.blocks] = tail.transpose(0, 1)
        before = held[self._table.previous].transpose(0, 1).flatten(0, 1)
        return torch.cat((before, new), dim=1)

    def context_rows(self, length: int) -> ContextRows:
        """The next left context, of so many rows, for a kernel that does what `left_rows` does."""
        return ContextRows(self._next_rows(length), self._table, *self._neighbours)

    def _next_rows(self, length: int) -> Tensor:
        held = self._cache.contexts[self._context]
        self._context += 1
        return held.view(*held.shape[:2], length, -1)

    @cached_property
    def _neighbours(self) -> tuple[Tensor, Tensor]:
        """The followers of the call's rows, and which rows lead."""
        follows = self._table.blocks[:, None] == self._table.previous
        followers = torch.where(follows.any(dim=1), follows.int().argmax(dim=1), -1)
        return followers.int(), ~follows.any(dim=0)

    def mask_padding(self, new: Tensor) -> Tensor:
        """`new`, at one position for each token of the block and its lookahead, with zeros behind the last one."""
        positions = torch.arange(new.shape[-1], device=new.device)
        return new.masked_fill((positions >= self._table.present[:, None])[:, None], 0.0)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: BlockCausalMask) -> Tensor:
        return self._cache.attention(query, *self._stored(key, value), self._table)

    def attend_projected(self, projected: Tensor, store: KeyStore, rotation: tuple[Tensor, Tensor] | None) -> Tensor:
        """Attention whose queries, keys and values are one tensor, [batch, length, 3 * heads * width]."""
        keys, values = self._cache.kv[self._attention]
        self._attention += 1
        query = store(projected, keys, values, self._table, rotation)
        attended = self._cache.attention(query, keys, values, self._table)
        return attended.transpose(1, 2).flatten(2)

    def attend_relative(
        self, queries: tuple[Tensor, Tensor], key: Tensor, value: Tensor, project: Projection, mask: BlockCausalMask
    ) -> Tensor:
        content, position = queries
        length = content.shape[-2]
        distances = self._distances(project, length, length * self._most, key.device)
        bias = position @ distances.transpose(-2, -1) / math.sqrt(position.shape[-1])
        return self._cache.attention(content, *self._stored(key, value), self._table, bias)

    def _distances(self, project: Projection, length: int, most: int, device: torch.device) -> Tensor:
        """Embeddings of all distances from `1 - length` to `most - 1`; more than were ever needed are made ahead."""
        known = self._cache.tables.get(self._attention)
        if known is None or known.shape[-2] < length - 1 + most:
            known = project(torch.arange(1 - length, 2 * most, device=device))
            self._cache.tables[self._attention] = known
        return known[..., : length - 1 + most, :]

    def _stored(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        held = self._cache.kv[self._attention]
        self._attention += 1
        count = len(self._table.blocks)
        for memory, new in zip(held, (key, value), strict=True):
            memory[self._table.blocks] = new.view(-1, count, *new.shape[1:]).transpose(0, 1)
        return held


class LayoutTrace(LayerCache):
    """Notes what a network keeps of a block while it computes one."""

    def __init__(self) -> None:
        super().__init__(update=False)
        self.contexts: list[Tensor] = []
        self.kv: list[Tensor] = []

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        self.contexts.append(new[..., :length])
        return super().left_context(new, length, first)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: BlockCausalMask) -> Tensor:
        self.kv.append(key)
        return super().attend(query, key, value, mask)

    def attend_relative(
        self, queries: tuple[Tensor, Tensor], key: Tensor, value: Tensor, project: Projection, mask: BlockCausalMask
    ) -> Tensor:
        self.kv.append(key)
        return super().attend_relative(queries, key, value, project, mask)

    @property
    def layout(self) -> BlockLayout:
        """The layout of a block, of which the network computed one."""
        kept: Sequence[Tensor] = (*self.contexts, *self.kv)
        dtypes = {each.dtype for each in kept}
        if len(dtypes) != 1:
            raise ValueError(f"A paged cache holds tensors of one type, not {sorted(map(str, dtypes))}.")
        return BlockLayout(
            tuple(each.shape for each in self.contexts), tuple(each.shape for each in self.kv), dtypes.pop()
        )
