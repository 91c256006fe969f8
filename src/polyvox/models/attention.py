"""Attention over heads, and the masks that streaming puts on it."""

import math

import torch
from torch import Tensor
from torch.nn import functional


def split_heads(rows: Tensor, heads: int) -> Tensor:
    """[batch, time, heads * width] as [batch, heads, time, width]."""
    return rows.view(*rows.shape[:2], heads, -1).transpose(1, 2)


def merge_heads(rows: Tensor) -> Tensor:
    """[batch, heads, time, width] as [batch, time, heads * width]."""
    return rows.transpose(1, 2).flatten(2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Scaled dot-product attention; fewer key heads than query heads are shared among them."""
    if query.shape[1] == key.shape[1]:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    if query.shape[2] > 1:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
    # The heads that share one key are as good as positions that share it, and then no key has to be repeated.
    sharing = query.reshape(query.shape[0], key.shape[1], -1, query.shape[3])
    return functional.scaled_dot_product_attention(sharing, key, value, attn_mask=mask).reshape(query.shape)


def attend_with_distance(
    content: Tensor, place: Tensor, key: Tensor, value: Tensor, distances: Tensor, mask: Tensor | None
) -> Tensor:
    """Attention whose scores are those of `content` with the keys plus those of `place` with the distances to them.

    `distances` [1, heads, keys + queries - 1, width] falls from the first key seen by the last query to the last key
    seen by the first.
    """
    scores = _by_key(place @ distances.transpose(-2, -1), key.shape[-2]) / math.sqrt(place.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return attend(content, key, value, scores)


def _by_key(by_distance: Tensor, keys: int) -> Tensor:
    """Scores by falling distance, [..., queries, keys + queries - 1], as scores by key, [..., queries, keys].

    The row of query i counts from distance `keys - 1`, which for that query lies `queries - 1 - i` before its first
    key. One more column makes the rows slide against each other by just that when the memory is read anew.
    """
    *batch, queries, columns = by_distance.shape
    padded = functional.pad(by_distance, (1, 0))
    slid = padded.reshape(*batch, -1)[..., queries:].view(*batch, queries, columns)
    return slid[..., :keys]


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor | None:
    """Each of the last `queries` positions sees itself and what is before it."""
    if queries == 1:
        return None
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


class Sight:
    """Which positions see which in one call, the last of them before `end`.

    `block` positions, counted from the start of the sequence, see each other and all before them; without it all
    see all. The mask is the same for all layers, so it is made once.
    """

    def __init__(self, end: int, block: int | None = None) -> None:
        self.end = end
        self.block = block
        self._masks: dict[tuple[int, int], Tensor] = {}

    def scaled(self, rate: int) -> "Sight":
        """Of positions of which there are `rate` for each of these."""
        return Sight(rate * self.end, self.block and rate * self.block)

    def positions(self, count: int, device: torch.device) -> Tensor:
        """The last `count` positions."""
        return torch.arange(self.end - count, self.end, device=device)

    def mask(self, query: Tensor, key: Tensor) -> Tensor | None:
        """For queries that are the last of the keys, [..., time, width] both; None where nothing is hidden."""
        queries, keys = query.shape[-2], key.shape[-2]
        if self.block is None or (self.end - queries) // self.block == (self.end - 1) // self.block:
            return None
        if (queries, keys) not in self._masks:
            blocks = torch.arange(self.end - keys, self.end, device=key.device) // self.block
            self._masks[queries, keys] = blocks <= blocks[keys - queries :, None]
        return self._masks[queries, keys]
