"""Attention to a paged cache as one Triton kernel, which reads each stream's blocks where they lie.

Triton comes with torch wherever torch was built for a GPU; only executors of a GPU import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from polyvox.models.paged_attention import BlockTable

_MIN_TILE = 16
"""The smallest side of a tile that `tl.dot` takes."""
_WARPS = 4
_STAGES = 3


def paged_attention(
    query: Tensor, keys: Tensor, values: Tensor, table: BlockTable, bias: Tensor | None = None
) -> Tensor:
    """See `PagedAttention`. Softmax and sums are in float32."""
    rows, heads, length, width = query.shape
    out = query.new_empty(rows, length, heads, width).transpose(1, 2)
    _attend[(heads, rows)](
        query,
        keys,
        values,
        out,
        query if bias is None else bias,
        table.history,
        table.counts,
        table.valid,
        width**-0.5,
        table.history.stride(0),
        len(table.blocks),
        keys.shape[1],
        heads,
        0 if bias is None else bias.shape[-1],
        query.stride(0),
        query.stride(1),
        query.stride(2),
        table.tokens,
        LENGTH=length,
        WIDTH=width,
        TILE=max(_MIN_TILE, triton.next_power_of_2(length)),
        TILE_WIDTH=max(_MIN_TILE, triton.next_power_of_2(width)),
        BIAS=bias is not None,
        EXACT=query.dtype == torch.float32,
        num_warps=_WARPS,
        num_stages=_STAGES,
    )
    return out


@triton.jit
def _attend(
    query,
    keys,
    values,
    out,
    bias,
    history,
    counts,
    valid,
    scale,
    history_stride,
    rows_of_branch,
    branches,
    heads,
    distances,
    query_stride,
    head_stride,
    time_stride,
    tokens,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    TILE: tl.constexpr,
    TILE_WIDTH: tl.constexpr,
    BIAS: tl.constexpr,
    EXACT: tl.constexpr,
):
    head, row = tl.program_id(0), tl.program_id(1)
    of_branch, branch = row % rows_of_branch, row // rows_of_branch
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    times, channels = tl.arange(0, TILE), tl.arange(0, TILE_WIDTH)
    inside = (times < LENGTH)[:, None] & (channels < WIDTH)[None, :]
    asked = tl.load(
        query + row.to(tl.int64) * query_stride + head * head_stride + times[:, None] * time_stride + channels[None, :],
        mask=inside,
        other=0.0,
    )
    count = tl.load(counts + of_branch)
    last = tl.load(valid + of_branch) * LENGTH // tokens
    block_size = LENGTH * WIDTH
    place = times[:, None] * WIDTH + channels[None, :]
    highest = tl.full((TILE,), float("-inf"), tl.float32)
    total = tl.zeros((TILE,), tl.float32)
    summed = tl.zeros((TILE, TILE_WIDTH), tl.float32)
    for index in range(count):
        block = tl.load(history + of_branch * history_stride + index).to(tl.int64)
        start = ((block * branches + branch) * heads + head) * block_size
        filled = tl.where(index == count - 1, last, LENGTH)
        held = (times < filled)[:, None] & (channels < WIDTH)[None, :]
        key = tl.load(keys + start + place, mask=held, other=0.0)
        value = tl.load(values + start + place, mask=held, other=0.0)
        scores = tl.dot(asked, tl.trans(key), input_precision=precision) * scale
        if BIAS:
            column = (count - 1 - index) * LENGTH + times[:, None] - times[None, :] + LENGTH - 1
            known = (times < LENGTH)[:, None] & (times < filled)[None, :]
            line = (row.to(tl.int64) * heads + head) * LENGTH + times
            scores += tl.load(bias + line[:, None] * distances + column, mask=known, other=0.0).to(tl.float32)
        scores = tl.where((times < filled)[None, :], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        fade = tl.exp(highest - higher)
        weights = tl.exp(scores - higher[:, None])
        total = total * fade + tl.sum(weights, axis=1)
        summed = summed * fade[:, None] + tl.dot(weights.to(value.dtype), value, input_precision=precision)
        highest = higher
    result = summed / total[:, None]
    place_out = ((row.to(tl.int64) * LENGTH + times[:, None]) * heads + head) * WIDTH + channels[None, :]
    tl.store(out + place_out, result.to(out.dtype.element_ty), mask=inside)
