"""Fused Triton kernels of the Zipformer: what PyTorch would read and write several times passes through memory once.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_FLAT_BLOCK = 1024
_LOG2_E = tl.constexpr(1.4426950408889634)
_QUERIES, _KEYS = 64, 64
_WEIGHT_KEYS = 32
"""Keys of a block where only weights are wanted: they are stored, so there is less to do between two blocks."""
_ATTENTION_WARPS, _ATTENTION_STAGES = 4, 3
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


def relative_table(positions: Tensor, weight: Tensor, heads: int) -> Tensor:
    """The relative positions as `attention` and `attention_weights` read them, [heads, 2 * frames - 1, size].

    `positions` is [2 * frames - 1, inputs], `weight` [heads * size, inputs]. Zeros lie behind the last entry: the
    kernels read a block of keys beyond a row's end and leave it out afterwards.
    """
    count, size = len(positions), len(weight) // heads
    memory = positions.new_empty((heads * count + _KEYS) * size)
    memory[-_KEYS * size :].zero_()
    table = memory[: heads * count * size].view(heads, count, size)
    torch.bmm(positions.expand(heads, -1, -1), weight.view(heads, size, -1).transpose(1, 2), out=table)
    return table


def attention(
    projected: Tensor, table: Tensor, values: Tensor, lengths: Tensor, heads: int, sizes: tuple[int, int, int]
) -> Tensor:
    """Values weighted by the softmax over keys of query-key scores plus position scores, [batch, frames, ...].

    `projected` [batch, frames, ...] has the queries of all heads, their keys, and their position queries, of the given
    sizes, `values` [batch, frames, heads * value] theirs; frames from `lengths` [batch] on are padding and become zero.
    `table` is that of `relative_table`.
    """
    out = torch.empty_like(values)
    size = values.shape[2] // heads
    _launch_attention(projected, table, values, lengths, out, heads, heads, sizes, size)
    return out


def attention_weights(
    projected: Tensor, table: Tensor, lengths: Tensor, heads: int, sizes: tuple[int, int, int], count: int
) -> Tensor:
    """The weights of the first `count` of the heads of `attention`, [batch, count, frames, frames]."""
    batch, frames, _ = projected.shape
    out = projected.new_empty(batch, count, frames, frames)
    _launch_attention(projected, table, None, lengths, out, heads, count, sizes, 1)
    return out


def _launch_attention(
    projected: Tensor,
    table: Tensor,
    values: Tensor | None,
    lengths: Tensor,
    out: Tensor,
    heads: int,
    count: int,
    sizes: tuple[int, int, int],
    value: int,
) -> None:
    batch, frames, width = projected.shape
    query, _, position = sizes
    kernel = _weights_kernel if values is None else _attention_kernel
    kernel[(triton.cdiv(frames, _QUERIES), batch * count)](
        projected.contiguous(),
        table,
        out if values is None else values.contiguous(),
        lengths,
        out,
        frames,
        WIDTH=width,
        HEADS=heads,
        COUNT=count,
        QUERY=query,
        PADDED_QUERY=max(16, triton.next_power_of_2(query)),
        POSITION=position,
        PADDED_POSITION=triton.next_power_of_2(position),
        VALUE=value,
        PADDED_VALUE=max(16, triton.next_power_of_2(value)),
        EXACT="ieee" if projected.dtype == torch.float32 else "tf32",
        QUERIES=_QUERIES,
        KEYS=_WEIGHT_KEYS if values is None else _KEYS,
        num_warps=_ATTENTION_WARPS,
        num_stages=_ATTENTION_STAGES,
    )


@triton.jit
def _position_queries(
    projected, queries, last, WIDTH: tl.constexpr, HEADS: tl.constexpr, QUERY: tl.constexpr,
    POSITION: tl.constexpr, PADDED_POSITION: tl.constexpr, head,
):  # fmt: skip
    """The factors of a head's queries for relative positions, [queries, position]."""
    channels = tl.arange(0, PADDED_POSITION)
    place = tl.minimum(queries, last)[:, None] * WIDTH + 2 * HEADS * QUERY + head * POSITION + channels[None, :]
    if POSITION == PADDED_POSITION:
        return tl.load(projected + place).to(tl.float32)
    return tl.load(projected + place, mask=channels[None, :] < POSITION, other=0.0).to(tl.float32)


@triton.jit
def _scores(
    projected, line, query, by_position, first, queries, frames, length, WIDTH: tl.constexpr, HEADS: tl.constexpr,
    QUERY: tl.constexpr, PADDED_QUERY: tl.constexpr, POSITION: tl.constexpr, PADDED_POSITION: tl.constexpr,
    EXACT: tl.constexpr, KEYS: tl.constexpr, head,
):  # fmt: skip
    """The scores of a block of queries with a block of keys; -inf from `length` on."""
    keys = first + tl.arange(0, KEYS)
    inner = tl.arange(0, PADDED_QUERY)
    key = tl.load(
        projected + keys[None, :] * WIDTH + HEADS * QUERY + head * QUERY + inner[:, None],
        mask=(keys[None, :] < length) & (inner[:, None] < QUERY),
        other=0.0,
    )
    # Keys before queries: neighbouring threads then hold neighbouring queries, and each only its own query's factors.
    # The distance within the block is 64 bits wide from the start, so that its constant parts become part of the loads.
    channels = tl.arange(0, PADDED_POSITION)
    distance = tl.arange(0, KEYS).to(tl.int64)[:, None] - tl.minimum(queries, frames - 1).to(tl.int64)[None, :]
    place = line + (first + frames - 1) * POSITION + distance[:, :, None] * POSITION + channels[None, None, :]
    if POSITION == PADDED_POSITION:
        relative = tl.load(place)
    else:
        relative = tl.load(place, mask=channels[None, None, :] < POSITION, other=0.0)
    position = tl.trans(tl.sum(relative.to(tl.float32) * by_position[None, :, :], axis=2))
    scores = tl.dot(query, key, input_precision=EXACT) + position
    return tl.where((keys < length)[None, :], scores, float("-inf"))


@triton.jit(do_not_specialize=["frames"])
def _attention_kernel(
    projected, table, values, lengths, out, frames, WIDTH: tl.constexpr, HEADS: tl.constexpr, COUNT: tl.constexpr,
    QUERY: tl.constexpr, PADDED_QUERY: tl.constexpr, POSITION: tl.constexpr, PADDED_POSITION: tl.constexpr,
    VALUE: tl.constexpr, PADDED_VALUE: tl.constexpr, EXACT: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(1) // HEADS, tl.program_id(1) % HEADS
    length = tl.minimum(tl.load(lengths + row).to(tl.int32), frames)
    queries = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    inner, outer = tl.arange(0, PADDED_QUERY), tl.arange(0, PADDED_VALUE)
    start = projected + row.to(tl.int64) * frames * WIDTH
    query = tl.load(
        start + queries[:, None] * WIDTH + head * QUERY + inner[None, :],
        mask=(queries[:, None] < frames) & (inner[None, :] < QUERY),
        other=0.0,
    )
    by_position = _position_queries(
        start, queries, frames - 1, WIDTH, HEADS, QUERY, POSITION, PADDED_POSITION, head
    )  # fmt: skip
    line = table + head * (2 * frames - 1) * POSITION
    place = row.to(tl.int64) * frames * HEADS * VALUE + head * VALUE
    largest = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    result = tl.zeros([QUERIES, PADDED_VALUE], tl.float32)
    # No keys for queries that are padding all of them. The first key never is, so that the largest score is finite.
    for first in tl.range(0, tl.where(tl.program_id(0) * QUERIES < length, length, 0), KEYS):
        scores = _scores(
            start, line, query, by_position, first, queries, frames, length,
            WIDTH, HEADS, QUERY, PADDED_QUERY, POSITION, PADDED_POSITION, EXACT, KEYS, head,
        )  # fmt: skip
        keys = first + tl.arange(0, KEYS)
        value = tl.load(
            values + place + keys[:, None] * (HEADS * VALUE) + outer[None, :],
            mask=(keys[:, None] < length) & (outer[None, :] < VALUE),
            other=0.0,
        )
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        shrink = tl.exp2((largest - higher) * _LOG2_E)
        weights = tl.exp2(scores * _LOG2_E - (higher * _LOG2_E)[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        result = result * shrink[:, None]
        result += tl.dot(weights.to(value.dtype), value, input_precision=EXACT)
        largest = higher
    result = tl.where((queries < length)[:, None], result / tl.maximum(total, 1e-30)[:, None], 0.0)
    tl.store(
        out + place + queries[:, None] * (HEADS * VALUE) + outer[None, :],
        result.to(out.dtype.element_ty),
        mask=(queries[:, None] < frames) & (outer[None, :] < VALUE),
    )


@triton.jit(do_not_specialize=["frames"])
def _weights_kernel(
    projected, table, values, lengths, out, frames, WIDTH: tl.constexpr, HEADS: tl.constexpr, COUNT: tl.constexpr,
    QUERY: tl.constexpr, PADDED_QUERY: tl.constexpr, POSITION: tl.constexpr, PADDED_POSITION: tl.constexpr,
    VALUE: tl.constexpr, PADDED_VALUE: tl.constexpr, EXACT: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(1) // COUNT, tl.program_id(1) % COUNT
    length = tl.minimum(tl.load(lengths + row).to(tl.int32), frames)
    queries = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    inner = tl.arange(0, PADDED_QUERY)
    start = projected + row.to(tl.int64) * frames * WIDTH
    query = tl.load(
        start + queries[:, None] * WIDTH + head * QUERY + inner[None, :],
        mask=(queries[:, None] < frames) & (inner[None, :] < QUERY),
        other=0.0,
    )
    by_position = _position_queries(
        start, queries, frames - 1, WIDTH, HEADS, QUERY, POSITION, PADDED_POSITION, head
    )  # fmt: skip
    line = table + head * (2 * frames - 1) * POSITION
    needed = tl.where(tl.program_id(0) * QUERIES < length, length, 0)
    largest = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    for first in tl.range(0, needed, KEYS):
        scores = _scores(
            start, line, query, by_position, first, queries, frames, length,
            WIDTH, HEADS, QUERY, PADDED_QUERY, POSITION, PADDED_POSITION, EXACT, KEYS, head,
        )  # fmt: skip
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp2(scores * _LOG2_E - (higher * _LOG2_E)[:, None])
        total = total * tl.exp2((largest - higher) * _LOG2_E) + tl.sum(weights, axis=1)
        largest = higher
    share = 1.0 / tl.maximum(total, 1e-30)
    place = out + (tl.program_id(1).to(tl.int64) * frames + queries[:, None]) * frames
    for first in tl.range(0, needed, KEYS):
        scores = _scores(
            start, line, query, by_position, first, queries, frames, length,
            WIDTH, HEADS, QUERY, PADDED_QUERY, POSITION, PADDED_POSITION, EXACT, KEYS, head,
        )  # fmt: skip
        keys = first + tl.arange(0, KEYS)
        weights = tl.exp2(scores * _LOG2_E - (largest * _LOG2_E)[:, None]) * share[:, None]
        within = (queries[:, None] < frames) & (keys[None, :] < frames)
        tl.store(place + keys[None, :], weights.to(out.dtype.element_ty), mask=within)
    # Whole blocks of padding have no weight.
    for first in tl.range((needed + KEYS - 1) // KEYS * KEYS, frames, KEYS):
        keys = first + tl.arange(0, KEYS)
        within = (queries[:, None] < frames) & (keys[None, :] < frames)
        tl.store(place + keys[None, :], tl.zeros([QUERIES, KEYS], out.dtype.element_ty), mask=within)


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


def norm_bypass(rows: Tensor, out: Tensor, more: Tensor, bias: Tensor, log_scale: Tensor, bypass: Tensor) -> Tensor:
    """`rows` moved towards the norm of `out` plus `more` by `bypass`: BiasNorm and the layer's bypass."""
    width = rows.shape[-1]
    result = torch.empty_like(rows)
    _norm_kernel[(rows.numel() // width,)](
        rows.contiguous(),
        out.contiguous(),
        more.contiguous(),
        bias,
        log_scale,
        bypass,
        result,
        WIDTH=width,
        BLOCK=triton.next_power_of_2(width),
    )
    return result


@triton.jit
def _norm_kernel(rows, out, more, bias, log_scale, bypass, result, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * WIDTH
    index = tl.arange(0, BLOCK)
    within = index < WIDTH
    before = tl.load(rows + start + index, mask=within, other=0.0).to(tl.float32)
    after = tl.load(out + start + index, mask=within, other=0.0).to(tl.float32)
    after += tl.load(more + start + index, mask=within, other=0.0).to(tl.float32)
    centred = tl.where(within, after - tl.load(bias + index, mask=within, other=0.0).to(tl.float32), 0.0)
    scale = tl.exp(tl.load(log_scale).to(tl.float32)) / tl.sqrt(tl.sum(centred * centred, axis=0) / WIDTH)
    share = tl.load(bypass + index, mask=within, other=0.0).to(tl.float32)
    value = before + (after * scale - before) * share
    tl.store(result + start + index, value.to(result.dtype.element_ty), mask=within)


def add_time(rows: Tensor, more: Tensor | None, time_bias: Tensor) -> Tensor:
    """Rows [batch, frames, width], plus `more` where it is given, plus the time bias [batch, 1, width]."""
    _, frames, width = rows.shape
    return _added(rows, more, time_bias.contiguous(), None, frames, width)


def add_bypass(rows: Tensor, out: Tensor, more: Tensor, bypass: Tensor) -> Tensor:
    """`rows` moved towards `out` plus `more` by `bypass` [width]."""
    return _added(out, more, bypass, rows.contiguous(), 1, rows.shape[2])


def _added(
    rows: Tensor, more: Tensor | None, channels: Tensor, origin: Tensor | None, frames: int, width: int
) -> Tensor:
    rows, out, vector = rows.contiguous(), torch.empty_like(rows), _vector(width)
    groups = rows.numel() // vector
    _add_kernel[(triton.cdiv(groups * vector, _FLAT_BLOCK),)](
        rows,
        rows if more is None else more.contiguous(),
        channels,
        rows if origin is None else origin,
        out,
        groups,
        frames,
        WIDTH=width,
        MORE=more is not None,
        BYPASS=origin is not None,
        VECTOR=vector,
        BLOCK=_FLAT_BLOCK,
    )
    return out


@triton.jit(do_not_specialize=["groups", "frames"])
def _add_kernel(
    rows,
    more,
    channels,
    origin,
    out,
    groups,
    frames,
    WIDTH: tl.constexpr,
    MORE: tl.constexpr,
    BYPASS: tl.constexpr,
    VECTOR: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Sums of rows; then either a value for each row and channel is added, or a share for each channel applied."""
    group = tl.program_id(0) * (BLOCK // VECTOR) + tl.arange(0, BLOCK // VECTOR)[:, None]
    inner, within = tl.arange(0, VECTOR)[None, :], group < groups
    place = group.to(tl.int64) * VECTOR + inner
    value = tl.load(rows + place, mask=within, other=0.0).to(tl.float32)
    if MORE:
        value += tl.load(more + place, mask=within, other=0.0).to(tl.float32)
    channel = group % (WIDTH // VECTOR) * VECTOR + inner
    if BYPASS:
        before = tl.load(origin + place, mask=within, other=0.0).to(tl.float32)
        value = before + (value - before) * tl.load(channels + channel, mask=within, other=0.0).to(tl.float32)
    else:
        row = group // (WIDTH // VECTOR) // frames
        value += tl.load(channels + row * WIDTH + channel, mask=within, other=0.0).to(tl.float32)
    tl.store(out + place, value.to(out.dtype.element_ty), mask=within)


def gated_values(projected: Tensor) -> Tensor:
    """The second third of `projected` [batch, frames, 3 * hidden] times the hyperbolic tangent of the first."""
    return _product(projected, None)


def gated_output(attended: Tensor, projected: Tensor) -> Tensor:
    """`attended` [batch, frames, hidden] times the last third of `projected` [batch, frames, 3 * hidden]."""
    return _product(projected, attended)


def _product(projected: Tensor, attended: Tensor | None) -> Tensor:
    batch, frames, width = projected.shape
    hidden = width // 3
    out, vector = projected.new_empty(batch, frames, hidden), _vector(hidden)
    groups = out.numel() // vector
    _product_kernel[(triton.cdiv(groups * vector, _FLAT_BLOCK),)](
        projected.contiguous(),
        projected if attended is None else attended.contiguous(),
        out,
        groups,
        HIDDEN=hidden,
        AFTER=attended is not None,
        VECTOR=vector,
        BLOCK=_FLAT_BLOCK,
    )
    return out


@triton.jit(do_not_specialize=["groups"])
def _product_kernel(
    projected,
    attended,
    out,
    groups,
    HIDDEN: tl.constexpr,
    AFTER: tl.constexpr,
    VECTOR: tl.constexpr,
    BLOCK: tl.constexpr,
):
    group = tl.program_id(0) * (BLOCK // VECTOR) + tl.arange(0, BLOCK // VECTOR)[:, None]
    inner, within = tl.arange(0, VECTOR)[None, :], group < groups
    frame, channel = group // (HIDDEN // VECTOR), group % (HIDDEN // VECTOR) * VECTOR
    source = projected + frame.to(tl.int64) * (3 * HIDDEN) + channel + inner
    place = group.to(tl.int64) * VECTOR + inner
    if AFTER:
        value = tl.load(source + 2 * HIDDEN, mask=within, other=0.0).to(tl.float32)
        value *= tl.load(attended + place, mask=within, other=0.0).to(tl.float32)
    else:
        value = tl.load(source + HIDDEN, mask=within, other=0.0).to(tl.float32)
        value *= _tanh(tl.load(source, mask=within, other=0.0).to(tl.float32))
    tl.store(out + place, value.to(out.dtype.element_ty), mask=within)


@triton.jit
def _tanh(value):
    """The hyperbolic tangent to a few units of the last place; near 0 a series, where the quotient would cancel."""
    square = value * value
    series = ((62 / 2835 * square - 17 / 315) * square + 2 / 15) * square - 1 / 3
    near = value + value * square * series
    far = 1.0 - 2.0 / (1.0 + tl.exp(2.0 * tl.minimum(tl.abs(value), 40.0)))
    return tl.where(tl.abs(value) < 0.25, near, tl.where(value < 0.0, -far, far))
