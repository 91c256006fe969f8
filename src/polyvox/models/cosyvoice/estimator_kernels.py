"""Triton kernels of the velocity estimators between matrix products, where torch would launch several for each line.

Each reads its input once, computes in float32 and rounds where the eager network rounds. Triton comes with torch
wherever torch was built for a GPU; only executors of a GPU import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from polyvox.models.paged_attention import BlockTable
from polyvox.models.paged_cache import ContextRows

_MIN_TILE = 16
_CONV_WARPS = 4
_MOST_WARPS = 4
_WARP_WIDTH = 256
"""Channels of a row that one warp takes, eight for each of its threads."""


def add_and_norm(rows: Tensor, added: Tensor, gate: Tensor | None, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
    """Add `gate * added` to `rows` [n, width] in place, and return their layer norm with this scale and shift."""
    count, width = rows.shape
    normed, block = torch.empty_like(rows), triton.next_power_of_2(width)
    _add_and_norm[(count,)](
        rows,
        added,
        scale if gate is None else gate,
        scale,
        shift,
        normed,
        width,
        eps,
        GATED=gate is not None,
        BLOCK=block,
        num_warps=_warps(block),
    )
    return normed


def _warps(block: int) -> int:
    """The warps of a kernel that takes one row of so many channels."""
    return max(1, min(_MOST_WARPS, block // _WARP_WIDTH))


@triton.jit
def _add_and_norm(rows, added, gate, scale, shift, normed, width, eps, GATED: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * width
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    new = tl.load(added + start + columns, mask=inside, other=0.0).to(tl.float32)
    if GATED:
        new *= tl.load(gate + columns, mask=inside, other=0.0).to(tl.float32)
    row = (tl.load(rows + start + columns, mask=inside, other=0.0).to(tl.float32) + new).to(rows.dtype.element_ty)
    tl.store(rows + start + columns, row, mask=inside)
    out = _normed(row.to(tl.float32), scale, shift, columns, width, eps)
    tl.store(normed + start + columns, out.to(normed.dtype.element_ty), mask=inside)


@triton.jit
def _normed(row, scale, shift, columns, width, eps):
    """The layer norm of a row, whose columns from `width` on are zeros."""
    inside = columns < width
    mean = tl.sum(row, axis=0) / width
    centered = tl.where(inside, row - mean, 0.0)
    deviation = tl.sqrt(tl.sum(centered * centered, axis=0) / width + eps)
    weight = tl.load(scale + columns, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(shift + columns, mask=inside, other=0.0).to(tl.float32)
    return centered / deviation * weight + bias


@triton.jit
def _mish(value):
    """The activation x * tanh(log(1 + e^x)); for large x the tangent is one."""
    grown = tl.exp(tl.minimum(value, 20.0))
    lifted = grown * (grown + 2.0)
    return value * (lifted / (lifted + 2.0))


def mish_and_norm(rows: Tensor, norm: nn.LayerNorm, added: Tensor, next_norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """The normed and activated rows [n, width] with `added`, and the next layer norm of them."""
    count, width = rows.shape
    out, normed, block = torch.empty_like(rows), torch.empty_like(rows), triton.next_power_of_2(width)
    _mish_and_norm[(count,)](
        rows,
        added,
        norm.weight,
        norm.bias,
        next_norm.weight,
        next_norm.bias,
        out,
        normed,
        width,
        norm.eps,
        next_norm.eps,
        BLOCK=block,
        num_warps=_warps(block),
    )
    return out, normed


@triton.jit
def _mish_and_norm(
    rows, added, scale, shift, next_scale, next_shift, out, normed, width, eps, next_eps, BLOCK: tl.constexpr
):
    start = tl.program_id(0).to(tl.int64) * width
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    kind = out.dtype.element_ty
    row = tl.load(rows + start + columns, mask=inside, other=0.0).to(tl.float32)
    row = _normed(row, scale, shift, columns, width, eps).to(kind).to(tl.float32)
    active = _mish(row).to(kind).to(tl.float32)
    total = (active + tl.load(added + start + columns, mask=inside, other=0.0).to(tl.float32)).to(kind)
    tl.store(out + start + columns, total, mask=inside)
    made = _normed(total.to(tl.float32), next_scale, next_shift, columns, width, next_eps)
    tl.store(normed + start + columns, made.to(kind), mask=inside)


def conv_inputs(
    rows: Tensor,
    norm: nn.LayerNorm | None,
    added: Tensor | None,
    context: ContextRows,
    inputs: Tensor,
    offset: int,
) -> None:
    """Write rows [n * length, width] as the input of a causal convolution that is one matrix product.

    Each row of `inputs` [n * length, taps, channels] gets, from channel `offset` on, what the convolution sees at its
    position, the oldest first. The rows are normed and activated before, if there is a norm, and `added` to. They may
    be strided, and so may what is added. The context of the stream's next block is kept.
    """
    width, (_, branches, before, channels) = rows.shape[1], context.held.shape
    count, block = len(context.table.blocks), triton.next_power_of_2(width)
    length = len(rows) // (branches * count)
    assert length >= before
    scale, shift, eps = (rows, rows, 0.0) if norm is None else (norm.weight, norm.bias, norm.eps)
    other = rows if added is None else added
    _conv_inputs[(len(rows),)](
        rows,
        other,
        scale,
        shift,
        inputs,
        context.held,
        context.table.blocks,
        context.table.previous,
        context.followers,
        context.leads,
        rows.stride(0),
        other.stride(0),
        count,
        branches,
        length,
        width,
        channels,
        offset,
        eps,
        BEFORE=before,
        NORMED=norm is not None,
        ADDED=added is not None,
        BLOCK=block,
        num_warps=_warps(block),
    )


@triton.jit
def _conv_inputs(
    rows,
    added,
    scale,
    shift,
    inputs,
    held,
    blocks,
    previous,
    followers,
    leads,
    row_stride,
    added_stride,
    rows_of_branch,
    branches,
    length,
    width,
    channels,
    offset,
    eps,
    BEFORE: tl.constexpr,
    NORMED: tl.constexpr,
    ADDED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    position = tl.program_id(0).to(tl.int64)
    row, time = position // length, position % length
    of_branch, branch = row % rows_of_branch, row // rows_of_branch
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    kind = inputs.dtype.element_ty
    value = tl.load(rows + position * row_stride + columns, mask=inside, other=0.0).to(tl.float32)
    if NORMED:
        value = _normed(value, scale, shift, columns, width, eps).to(kind).to(tl.float32)
        value = _mish(value).to(kind).to(tl.float32)
    if ADDED:
        value += tl.load(added + position * added_stride + columns, mask=inside, other=0.0).to(tl.float32)
    kept = value.to(kind)
    taps: tl.constexpr = BEFORE + 1
    place = offset + columns
    tl.store(inputs + (position * taps + BEFORE) * channels + place, kept, mask=inside)
    follower = tl.load(followers + of_branch).to(tl.int64)
    for later in tl.static_range(1, taps):
        past = time + later - length
        target = tl.where(past < 0, position + later, (branch * rows_of_branch + follower) * length + past)
        seen = inside & ((past < 0) | (follower >= 0))
        tl.store(inputs + (target * taps + BEFORE - later) * channels + place, kept, mask=seen)
    own = (tl.load(blocks + of_branch).to(tl.int64) * branches + branch) * BEFORE + time - (length - BEFORE)
    tl.store(held + own * channels + place, kept, mask=inside & (time >= length - BEFORE))
    leading = tl.load(leads + of_branch) != 0
    older = (tl.load(previous + of_branch).to(tl.int64) * branches + branch) * BEFORE
    for tap in tl.static_range(BEFORE):
        missing = inside & leading & (time + tap < BEFORE)
        context = tl.load(held + (older + time + tap) * channels + place, mask=missing, other=0.0)
        tl.store(inputs + (position * taps + tap) * channels + place, context, mask=missing)


def store_keys(
    projected: Tensor, keys: Tensor, values: Tensor, table: BlockTable, rotation: tuple[Tensor, Tensor] | None
) -> Tensor:
    """Store keys and values of `projected` [branches * n, length, 3 * heads * width] in their blocks; the queries.

    The first head of queries and keys is rotated over interleaved pairs by the cosines and sines of `rotation`,
    [n, length, width / 2] each. Queries [branches * n, heads, length, width] are a view of `projected`.
    """
    _, branches, heads, length, width = keys.shape
    cosines, sines = rotation or (projected, projected)
    _store_keys[(projected.shape[0] * length,)](
        projected,
        keys,
        values,
        table.blocks,
        cosines,
        sines,
        len(table.blocks),
        branches,
        length,
        HEADS=triton.next_power_of_2(heads),
        WIDTH=width,
        COUNT=heads,
        ROTATED=rotation is not None,
        num_warps=4,
    )
    return projected[..., : heads * width].view(*projected.shape[:2], heads, width).transpose(1, 2)


@triton.jit
def _store_keys(
    projected,
    keys,
    values,
    blocks,
    cosines,
    sines,
    rows_of_branch,
    branches,
    length,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    COUNT: tl.constexpr,
    ROTATED: tl.constexpr,
):
    position = tl.program_id(0)
    row, time = position // length, position % length
    of_branch, branch = row % rows_of_branch, row // rows_of_branch
    inner: tl.constexpr = COUNT * WIDTH
    source = projected + position.to(tl.int64) * 3 * inner
    heads, channels = tl.arange(0, HEADS), tl.arange(0, WIDTH)
    inside = (heads < COUNT)[:, None] & (channels < WIDTH)[None, :]
    place = heads[:, None] * WIDTH + channels[None, :]
    block = tl.load(blocks + of_branch).to(tl.int64)
    target = ((block * branches + branch) * COUNT + heads[:, None]) * length * WIDTH + time * WIDTH + channels[None, :]
    key = tl.load(source + inner + place, mask=inside, other=0.0)
    if ROTATED:
        angle = (of_branch * length + time) * (WIDTH // 2) + channels // 2
        cosine = tl.load(cosines + angle)
        sine = tl.load(sines + angle) * tl.where(channels % 2 == 0, -1.0, 1.0)
        query, partner = tl.load(source + channels), tl.load(source + (channels ^ 1))
        turned = tl.load(source + inner + channels) * cosine + tl.load(source + inner + (channels ^ 1)) * sine
        key = tl.where((heads == 0)[:, None], turned[None, :].to(key.dtype), key)
        # Every partner has to be read before one is overwritten.
        tl.debug_barrier()
        tl.store(source + channels, (query * cosine + partner * sine).to(query.dtype))
    tl.store(keys + target, key, mask=inside)
    tl.store(values + target, tl.load(source + 2 * inner + place, mask=inside, other=0.0), mask=inside)


def grouped_conv_mish(padded: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Grouped convolution of rows [n, length + taps - 1, channels] and a Mish activation: [n, length, channels].

    The `weight` is [taps, groups, inputs of a group, outputs of a group].
    """
    taps, groups, inputs, outputs = weight.shape
    count, total, channels = padded.shape
    length = total - taps + 1
    out = padded.new_empty(count, length, groups * outputs)
    _grouped_conv_mish[(groups, count)](
        padded,
        weight,
        bias,
        out,
        total,
        length,
        channels,
        groups,
        TAPS=taps,
        INPUTS=inputs,
        OUTPUTS=outputs,
        TILE=max(_MIN_TILE, triton.next_power_of_2(length)),
        TILE_IN=max(_MIN_TILE, triton.next_power_of_2(inputs)),
        TILE_OUT=max(_MIN_TILE, triton.next_power_of_2(outputs)),
        EXACT=padded.dtype == torch.float32,
        num_warps=_CONV_WARPS,
    )
    return out


@triton.jit
def _grouped_conv_mish(
    padded,
    weight,
    bias,
    out,
    total,
    length,
    channels,
    groups,
    TAPS: tl.constexpr,
    INPUTS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    TILE: tl.constexpr,
    TILE_IN: tl.constexpr,
    TILE_OUT: tl.constexpr,
    EXACT: tl.constexpr,
):
    group, row = tl.program_id(0), tl.program_id(1).to(tl.int64)
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    times, ins, outs = tl.arange(0, TILE), tl.arange(0, TILE_IN), tl.arange(0, TILE_OUT)
    from_group = padded + row * total * channels + group * INPUTS
    read = (times < length)[:, None] & (ins < INPUTS)[None, :]
    weighed = (ins < INPUTS)[:, None] & (outs < OUTPUTS)[None, :]
    summed = tl.zeros((TILE, TILE_OUT), tl.float32)
    for tap in range(TAPS):
        frames = tl.load(from_group + (times + tap)[:, None] * channels + ins[None, :], mask=read, other=0.0)
        matrix = tl.load(
            weight + ((tap * groups + group) * INPUTS + ins)[:, None] * OUTPUTS + outs[None, :], mask=weighed, other=0.0
        )
        summed += tl.dot(frames, matrix, input_precision=precision)
    summed += tl.load(bias + group * OUTPUTS + outs, mask=outs < OUTPUTS, other=0.0).to(tl.float32)[None, :]
    active = _mish(summed)
    written = (times < length)[:, None] & (outs < OUTPUTS)[None, :]
    target = out + (row * length + times[:, None]) * (groups * OUTPUTS) + group * OUTPUTS + outs[None, :]
    tl.store(target, active.to(out.dtype.element_ty), mask=written)
