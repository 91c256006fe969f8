"""Attention of blocks of queries to keys and values in a paged cache, in plain PyTorch."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class BlockTable:
    """Positions of the blocks of one call in a paged cache; all tensors are on its device.

    A stream is a sequence of blocks of equal length. A call computes `len(blocks)` of them, of any streams.
    """

    blocks: Tensor
    """The block that each row fills, [n]."""
    previous: Tensor
    """The block before it in its stream, [n]; at the start of a stream, a block of zeros."""
    history: Tensor
    """The blocks of its stream from the first to itself, [n, most]."""
    counts: Tensor
    """The number of those blocks, [n]."""
    valid: Tensor
    """The number of tokens of its own block that are no padding, [n]."""
    present: Tensor
    """The number of those tokens with the lookahead behind them, [n]."""
    tokens: int
    """The tokens of a whole block; layers may have several positions for each."""


class PagedAttention(Protocol):
    """Attention of each row of queries [branches * n, heads, length, width] to its stream's keys, itself included.

    Keys and values are [blocks, branches, heads, length, width]. The `bias` [branches * n, heads, length, distances] is
    added to the scores, by distance between query and key: the column of distance d is `length - 1 + d`.
    """

    def __call__(
        self, query: Tensor, keys: Tensor, values: Tensor, table: BlockTable, bias: Tensor | None = None
    ) -> Tensor: ...


def paged_attention(
    query: Tensor, keys: Tensor, values: Tensor, table: BlockTable, bias: Tensor | None = None
) -> Tensor:
    """See `PagedAttention`; one row after the other."""
    branches, length = keys.shape[1], keys.shape[3]
    count = query.shape[0] // branches
    out = torch.empty_like(query)
    for row in range(count):
        history = table.history[row, : int(table.counts[row])]
        positions = (len(history) - 1) * length + int(table.valid[row]) * length // table.tokens
        key, value = (each[history].permute(1, 2, 0, 3, 4).flatten(2, 3)[:, :, :positions] for each in (keys, values))
        added = None if bias is None else _by_key(bias[row::count], len(history) * length)[..., :positions]
        out[row::count] = functional.scaled_dot_product_attention(query[row::count], key, value, attn_mask=added)
    return out


def _by_key(bias: Tensor, keys: int) -> Tensor:
    """The bias of `length` queries at the end of so many keys, [..., length, keys]."""
    length = bias.shape[-2]
    query = torch.arange(keys - length, keys, device=bias.device)[:, None]
    columns = query - torch.arange(keys, device=bias.device) + length - 1
    return bias.gather(-1, columns.expand(*bias.shape[:-2], length, keys))
