"""Fused Triton kernels of the Zipformer: what PyTorch would read and write several times passes through memory once.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_FLAT_BLOCK = 1024
_QUERIES, _KEYS = 32, 64
_FRAMES, _CHANNELS, _CONV_WARPS = 64, 64, 8


def swoosh(rows: Tensor, slope: float) -> Tensor:
    """Softplus minus a slope, in place of `rows`, which must be contiguous."""
    vector = _vector(rows.shape[-1])
    groups = rows.numel() // vector
    _swoosh_kernel[(triton.cdiv(groups * vector, _FLAT_BLOCK),)](
        rows, groups, SLOPE=slope, VECTOR=vector, BLOCK=_FLAT_BLOCK
    )
    return rows


def _vector(width: int) -> int:
    """Values that a thread reads at once: a mask over single values would have it read one after the other."""
    return 8 if width % 8 == 0 else 1


@triton.jit(do_not_specialize=["groups"])
def _swoosh_kernel(rows, groups, SLOPE: tl.constexpr, VECTOR: tl.constexpr, BLOCK: tl.constexpr):
    group = tl.program_id(0) * (BLOCK // VECTOR) + tl.arange(0, BLOCK // VECTOR)[:, None]
    place = rows + group.to(tl.int64) * VECTOR + tl.arange(0, VECTOR)[None, :]
    value = tl.load(place, mask=group < groups, other=0.0).to(tl.float32)
    tl.store(place, _swoosh(value, SLOPE).to(rows.dtype.element_ty), mask=group < groups)


@triton.jit
def _swoosh(value, SLOPE: tl.constexpr):
    return tl.maximum(value, 0.0) + _log_of_one_more(tl.exp(-tl.abs(value))) - SLOPE * value


@triton.jit
def _log_of_one_more(value):
    """log(1 + value) for values from 0 to 1, to 2e-7 of it: a third of the operations of a logarithm of any number."""
    series = 0.005253457929939032 * value - 0.02958850748836994
    series = series * value + 0.07836166769266129
    series = series * value - 0.13674770295619965
    series = series * value + 0.19111430644989014
    series = series * value - 0.24844369292259216
    series = series * value + 0.33319270610809326
    series = series * value - 0.49999502301216125
    return (series * value + 1.0) * value


def attention_weights(
    projected: Tensor, relative: Tensor, mask: Tensor | None, heads: int, sizes: tuple[int, int, int]
) -> Tensor:
    """The softmax over keys of query-key scores plus position scores, [batch, heads, frames, frames].

    `projected` [batch, frames, ...] has the queries of all heads, their keys, and their position queries, of the given
    sizes; `relative` is [2 * frames - 1, heads * position size], and `mask` [batch, frames] is true at padding.
    """
    batch, frames, width = projected.shape
    query, _, position = sizes
    out = projected.new_empty(batch, heads, frames, frames)
    _attention_kernel[(triton.cdiv(frames, _QUERIES), batch * heads)](
        projected.contiguous(),
        relative.t().contiguous(),
        out if mask is None else mask.contiguous().view(torch.uint8),
        out,
        frames,
        WIDTH=width,
        HEADS=heads,
        QUERY=query,
        PADDED_QUERY=max(16, triton.next_power_of_2(query)),
        POSITION=position,
        MASKED=mask is not None,
        EXACT="ieee" if projected.dtype == torch.float32 else "tf32",
        QUERIES=_QUERIES,
        KEYS=_KEYS,
    )
    return out


@triton.jit
def _scores(
    projected,
    relative,
    mask,
    queries,
    query,
    first_key,
    frames,
    row,
    head,
    WIDTH: tl.constexpr,
    HEADS: tl.constexpr,
    QUERY: tl.constexpr,
    PADDED_QUERY: tl.constexpr,
    POSITION: tl.constexpr,
    MASKED: tl.constexpr,
    EXACT: tl.constexpr,
    KEYS: tl.constexpr,
):
    """The scores of a block of queries with a block of keys; -inf at padding and beyond the frames."""
    keys = first_key + tl.arange(0, KEYS)
    inner = tl.arange(0, PADDED_QUERY)
    start = projected + row.to(tl.int64) * frames * WIDTH
    key = tl.load(
        start + keys[None, :] * WIDTH + HEADS * QUERY + head * QUERY + inner[:, None],
        mask=(keys[None, :] < frames) & (inner[:, None] < QUERY),
        other=0.0,
    )
    scores = tl.dot(query, key, input_precision=EXACT)
    distance = keys[None, :] - queries[:, None] + frames - 1
    within = (keys[None, :] < frames) & (queries[:, None] < frames)
    for index in tl.static_range(POSITION):
        place = start + queries * WIDTH + 2 * HEADS * QUERY + head * POSITION + index
        weight = tl.load(place, mask=queries < frames, other=0.0).to(tl.float32)
        line = relative + (head * POSITION + index) * (2 * frames - 1)
        scores += weight[:, None] * tl.load(line + distance, mask=within, other=0.0).to(tl.float32)
    seen = keys < frames
    if MASKED:
        seen = seen & (tl.load(mask + row * frames + keys, mask=seen, other=1) == 0)
    return tl.where(seen[None, :], scores, float("-inf"))


@triton.jit(do_not_specialize=["frames"])
def _attention_kernel(
    projected,
    relative,
    mask,
    out,
    frames,
    WIDTH: tl.constexpr,
    HEADS: tl.constexpr,
    QUERY: tl.constexpr,
    PADDED_QUERY: tl.constexpr,
    POSITION: tl.constexpr,
    MASKED: tl.constexpr,
    EXACT: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    row = tl.program_id(1) // HEADS
    head = tl.program_id(1) % HEADS
    queries = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    inner = tl.arange(0, PADDED_QUERY)
    start = projected + row.to(tl.int64) * frames * WIDTH
    query = tl.load(
        start + queries[:, None] * WIDTH + head * QUERY + inner[None, :],
        mask=(queries[:, None] < frames) & (inner[None, :] < QUERY),
        other=0.0,
    )
    # The first key of a row is never padding, so the largest score is finite from the first block on.
    largest = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    first = 0
    while first < frames:
        scores = _scores(
            projected, relative, mask, queries, query, first, frames, row, head,
            WIDTH, HEADS, QUERY, PADDED_QUERY, POSITION, MASKED, EXACT, KEYS,
        )  # fmt: skip
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(scores - higher[:, None]), axis=1)
        largest = higher
        first += KEYS
    first = 0
    while first < frames:
        scores = _scores(
            projected, relative, mask, queries, query, first, frames, row, head,
            WIDTH, HEADS, QUERY, PADDED_QUERY, POSITION, MASKED, EXACT, KEYS,
        )  # fmt: skip
        keys = first + tl.arange(0, KEYS)
        weights = tl.exp(scores - largest[:, None]) / total[:, None]
        place = (tl.program_id(1).to(tl.int64) * frames + queries[:, None]) * frames + keys[None, :]
        within = (queries[:, None] < frames) & (keys[None, :] < frames)
        tl.store(out + place, weights.to(out.dtype.element_ty), mask=within)
        first += KEYS


def gated_conv(projected: Tensor, weight: Tensor, bias: Tensor, mask: Tensor | None, slope: float) -> Tensor:
    """The swoosh of a centred depthwise convolution of gated values, which are zero at padding.

    `projected` [batch, frames, 2 * channels] has values and gates, `weight` is [channels, 1, kernel].
    """
    batch, frames, width = projected.shape
    channels = width // 2
    gated = projected.new_empty(batch, frames, channels)
    vector = _vector(channels)
    groups = gated.numel() // vector
    padding = gated if mask is None else mask.contiguous().view(torch.uint8)
    _gate_kernel[(triton.cdiv(groups * vector, _FLAT_BLOCK),)](
        projected.contiguous(),
        padding,
        gated,
        groups,
        CHANNELS=channels,
        MASKED=mask is not None,
        VECTOR=vector,
        BLOCK=_FLAT_BLOCK,
    )
    return _convolve(gated, weight, bias, slope)


def depthwise_conv(rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A centred depthwise convolution over time of rows [batch, frames, channels]."""
    return _convolve(rows.contiguous(), weight, bias, None)


def _convolve(rows: Tensor, weight: Tensor, bias: Tensor, slope: float | None) -> Tensor:
    batch, frames, channels = rows.shape
    out = torch.empty_like(rows)
    _conv_kernel[(triton.cdiv(frames, _FRAMES), batch, triton.cdiv(channels, _CHANNELS))](
        rows,
        weight.contiguous(),
        bias,
        out,
        frames,
        CHANNELS=channels,
        KERNEL=weight.shape[2],
        SLOPE=slope,
        FRAMES=_FRAMES,
        BLOCK=_CHANNELS,
        num_warps=_CONV_WARPS,
    )
    return out


@triton.jit(do_not_specialize=["groups"])
def _gate_kernel(
    projected,
    mask,
    out,
    groups,
    CHANNELS: tl.constexpr,
    MASKED: tl.constexpr,
    VECTOR: tl.constexpr,
    BLOCK: tl.constexpr,
):
    group = tl.program_id(0) * (BLOCK // VECTOR) + tl.arange(0, BLOCK // VECTOR)[:, None]
    inner, within = tl.arange(0, VECTOR)[None, :], group < groups
    frame, channel = group // (CHANNELS // VECTOR), group % (CHANNELS // VECTOR) * VECTOR
    place = projected + frame.to(tl.int64) * (2 * CHANNELS) + channel + inner
    value = tl.load(place, mask=within, other=0.0).to(tl.float32)
    gate = tl.load(place + CHANNELS, mask=within, other=0.0).to(tl.float32)
    value = value / (1.0 + tl.exp(-tl.maximum(gate, -80.0)))
    if MASKED:
        value = tl.where(tl.load(mask + frame, mask=within, other=1) == 0, value, 0.0)
    tl.store(out + group.to(tl.int64) * VECTOR + inner, value.to(out.dtype.element_ty), mask=within)


@triton.jit(do_not_specialize=["frames"])
def _conv_kernel(
    rows,
    weight,
    bias,
    out,
    frames,
    CHANNELS: tl.constexpr,
    KERNEL: tl.constexpr,
    SLOPE: tl.constexpr,
    FRAMES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    times = tl.program_id(0) * FRAMES + tl.arange(0, FRAMES)
    channels = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    start = tl.program_id(1).to(tl.int64) * frames * CHANNELS
    known = channels < CHANNELS
    total = tl.zeros([FRAMES, BLOCK], tl.float32)
    total += tl.load(bias + channels, mask=known, other=0.0).to(tl.float32)[None, :]
    for tap in tl.static_range(KERNEL):
        source = times + tap - KERNEL // 2
        within = (source >= 0) & (source < frames)
        value = tl.load(
            rows + start + source[:, None] * CHANNELS + channels[None, :],
            mask=within[:, None] & known[None, :],
            other=0.0,
        )
        factor = tl.load(weight + channels * KERNEL + tap, mask=known, other=0.0)
        total += value.to(tl.float32) * factor.to(tl.float32)[None, :]
    place = start + times[:, None] * CHANNELS + channels[None, :]
    stored = (times[:, None] < frames) & known[None, :]
    if SLOPE is not None:
        total = _swoosh(total, SLOPE)
    tl.store(out + place, total.to(out.dtype.element_ty), mask=stored)


def norm_bypass(rows: Tensor, out: Tensor, bias: Tensor, log_scale: Tensor, bypass: Tensor) -> Tensor:
    """`rows` moved towards the norm of `out` by `bypass`: BiasNorm and the layer's bypass, frame by frame."""
    width = rows.shape[-1]
    result = torch.empty_like(rows)
    _norm_kernel[(rows.numel() // width,)](
        rows.contiguous(),
        out.contiguous(),
        bias,
        log_scale,
        bypass,
        result,
        WIDTH=width,
        BLOCK=triton.next_power_of_2(width),
    )
    return result


@triton.jit
def _norm_kernel(rows, out, bias, log_scale, bypass, result, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * WIDTH
    index = tl.arange(0, BLOCK)
    within = index < WIDTH
    before = tl.load(rows + start + index, mask=within, other=0.0).to(tl.float32)
    after = tl.load(out + start + index, mask=within, other=0.0).to(tl.float32)
    centred = tl.where(within, after - tl.load(bias + index, mask=within, other=0.0).to(tl.float32), 0.0)
    scale = tl.exp(tl.load(log_scale).to(tl.float32)) / tl.sqrt(tl.sum(centred * centred, axis=0) / WIDTH)
    share = tl.load(bypass + index, mask=within, other=0.0).to(tl.float32)
    value = before + (after * scale - before) * share
    tl.store(result + start + index, value.to(result.dtype.element_ty), mask=within)
