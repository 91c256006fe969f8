"""Multi-head attention and its masks."""

import math

import torch
from torch import Tensor
from torch.nn import functional


def split_heads(rows: Tensor, heads: int) -> Tensor:
    """Reshape [batch, time, heads * width] to [batch, heads, time, width]."""
    # The width is named, since it could not be inferred from no rows at all.
    return rows.view(*rows.shape[:2], heads, rows.shape[2] // heads).transpose(1, 2)


def merge_heads(rows: Tensor) -> Tensor:
    """Reshape [batch, heads, time, width] to [batch, time, heads * width]."""
    return rows.transpose(1, 2).flatten(2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Scaled dot-product attention, with grouped queries where there are fewer key heads than query heads."""
    if query.shape[1] == key.shape[1]:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    if query.shape[2] > 1:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
    # With one query, the heads of a group can stand as positions of one head, and no key has to be repeated.
    grouped = query.reshape(query.shape[0], key.shape[1], -1, query.shape[3])
    return functional.scaled_dot_product_attention(grouped, key, value, attn_mask=mask).reshape(query.shape)


def attend_relative(
    content: Tensor, position: Tensor, key: Tensor, value: Tensor, distances: Tensor, mask: Tensor | None
) -> Tensor:
    """Attention with relative positions: scores of `content` with the keys plus those of `position` with the distances.

    `distances` [1, heads, keys + queries - 1, width] are embeddings of falling distance, from the last query and the
    first key to the first query and the last key.
    """
    scores = _relative_shift(position @ distances.transpose(-2, -1), key.shape[-2]) / math.sqrt(position.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return attend(content, key, value, scores)


def _relative_shift(by_distance: Tensor, keys: int) -> Tensor:
    """Turn scores by falling distance, [..., queries, keys + queries - 1], into scores by key, [..., queries, keys].

    The first key of query i is in column `queries - 1 - i`. One column of padding, and the flat tensor read in rows
    again, shift each row by just that.
    """
    *batch, queries, columns = by_distance.shape
    padded = functional.pad(by_distance, (1, 0))
    shifted = padded.reshape(*batch, -1)[..., queries:].view(*batch, queries, columns)
    return shifted[..., :keys]


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor | None:
    """The mask under which each of the last `queries` positions attends to itself and those before it."""
    if queries == 1:
        return None
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


class BlockCausalMask:
    """The attention mask of one call, whose last position is `end - 1`.

    Positions of one block of `block`, counted from the start of the sequence, attend to each other and to all before
    them; without blocks attention is full. All layers share the mask, so it is made once.
    """

    def __init__(self, end: int, block: int | None = None) -> None:
        self.end = end
        self.block = block
        self._masks: dict[tuple[int, int], Tensor] = {}

    def scaled(self, rate: int) -> "BlockCausalMask":
        """The mask of a sequence upsampled by `rate`."""
        return BlockCausalMask(rate * self.end, self.block and rate * self.block)

    def positions(self, count: int, device: torch.device) -> Tensor:
        """The last `count` positions."""
        return torch.arange(self.end - count, self.end, device=device)

    def tensor(self, query: Tensor, key: Tensor) -> Tensor | None:
        """The mask for queries at the last of the keys, [..., time, width] both; None where nothing is masked."""
        queries, keys = query.shape[-2], key.shape[-2]
        if self.block is None or (self.end - queries) // self.block == (self.end - 1) // self.block:
            return None
        if (queries, keys) not in self._masks:
            blocks = torch.arange(self.end - keys, self.end, device=key.device) // self.block
            self._masks[queries, keys] = blocks <= blocks[keys - queries :, None]
        return self._masks[queries, keys]
