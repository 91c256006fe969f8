"""Attention over heads, and the masks that streaming puts on it."""

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
    shared = query.shape[1] != key.shape[1]
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=shared)


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor | None:
    """Each of the last `queries` positions sees itself and what is before it."""
    if queries == 1:
        return None
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def block_mask(queries: int, keys: int, end: int, block: int | None, device: torch.device) -> Tensor | None:
    """Each of the last `queries` of `keys` positions before `end` sees its own block and the blocks before it."""
    if block is None or (end - queries) // block == (end - 1) // block:
        return None
    blocks = torch.arange(end - keys, end, device=device) // block
    return blocks <= blocks[keys - queries :, None]
