"""A fused Triton kernel between two convolutions of HiFT's filter: bias, residual, mean, activation, padding, context.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import triton
import triton.language as tl
from torch import Tensor

from polyvox.models.hift.fused_filter import Activation, Edges, Joined, Sum

_ELEMENTS = 2048
"""Of one program; it has whole samples, with all their channels."""
_WARPS = 4


def join(given: tuple[Sum, ...], divisor: int, activation: Activation, edges: Edges) -> Joined:
    """Implement `polyvox.models.hift.fused_filter.JoinKernel`."""
    sums = [_contiguous(each) for each in given]
    first = sums[0]
    batch, time, channels = first.rows.shape
    new = time * edges.upsampling
    keeps = edges.keeps and edges.before > 0
    stores = edges.stores and (len(sums) > 1 or first.added is not None)
    total = first.rows.new_empty(first.rows.shape) if stores else first.rows
    joined = first.rows.new_empty(batch, edges.before + new + edges.after, channels)
    following = first.rows.new_empty(batch, channels, edges.before) if keeps else None
    past = None if edges.past is None else _dense_rows(edges.past)
    padding, rate = edges.padding or (None, 0)
    width = triton.next_power_of_2(channels)
    block = max(1, _ELEMENTS // width)
    alpha, slope = (activation, 0.0) if isinstance(activation, Tensor) else (None, activation)
    _join[(triton.cdiv(joined.shape[1], block), batch)](
        *[tensor if tensor is not None else joined for sum_ in _three(sums) for tensor in sum_],
        joined if alpha is None else alpha,
        joined if past is None else past,
        joined if padding is None else padding,
        total,
        joined,
        joined if following is None else following,
        time,
        0 if past is None else past.stride(0),
        rate,
        edges.before,
        edges.after,
        TERMS=len(sums),
        ADDED=first.added is not None,
        BIASED=first.bias is not None,
        DIVISOR=divisor,
        SNAKE=alpha is not None,
        SLOPE=slope,
        EPS=edges.eps,
        PAST=past is not None,
        PADDED=padding is not None and (keeps or edges.masks),
        MASKS=padding is not None and edges.masks,
        STORES=stores,
        KEEPS=keeps,
        UPSAMPLING=edges.upsampling,
        CHANNELS=channels,
        WIDTH=width,
        BLOCK=block,
        num_warps=_WARPS,
    )
    return Joined(total, joined, following)


def _contiguous(given: Sum) -> Sum:
    """The rows of convolutions lie one behind the other already, where those computed on channels last."""
    return Sum(given.rows.contiguous(), None if given.added is None else given.added.contiguous(), given.bias)


def _three(sums: list[Sum]) -> list[Sum]:
    return [*sums, *[Sum(sums[0].rows, sums[0].rows, sums[0].rows)] * (3 - len(sums))]


def _dense_rows(past: Tensor) -> Tensor:
    """Contexts [batch, channels, time] of which each row is dense, as it is in a part of a packed state."""
    return past if past.stride()[1:] == (past.shape[2], 1) else past.contiguous()


# One compilation serves all lengths, and contexts wherever they lie in a state.
@triton.jit(
    do_not_specialize=["time", "past_stride", "rate", "before", "after"], do_not_specialize_on_alignment=["past"]
)
def _join(
    rows0,
    added0,
    bias0,
    rows1,
    added1,
    bias1,
    rows2,
    added2,
    bias2,
    alphas,
    past,
    padding,
    total,
    joined,
    following,
    time,
    past_stride,
    rate,
    before,
    after,
    TERMS: tl.constexpr,
    ADDED: tl.constexpr,
    BIASED: tl.constexpr,
    DIVISOR: tl.constexpr,
    SNAKE: tl.constexpr,
    SLOPE: tl.constexpr,
    EPS: tl.constexpr,
    PAST: tl.constexpr,
    PADDED: tl.constexpr,
    MASKS: tl.constexpr,
    STORES: tl.constexpr,
    KEEPS: tl.constexpr,
    UPSAMPLING: tl.constexpr,
    CHANNELS: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(1).to(tl.int64)
    positions = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channels = tl.arange(0, WIDTH)
    lanes = channels < CHANNELS
    new = time * UPSAMPLING
    length = before + new + after
    end = before + new
    if PADDED:
        end -= tl.load(padding + row).to(tl.int32) * rate
    inside = (positions >= before) & (positions < before + new)
    sources = tl.where(inside, positions - before, 0) // UPSAMPLING
    places = (row * time + sources)[:, None] * CHANNELS + channels[None, :]
    within = inside[:, None] & lanes[None, :]

    value = _added(rows0, added0, bias0, places, within, channels, lanes, ADDED, BIASED)
    if TERMS >= 2:
        value += _added(rows1, added1, bias1, places, within, channels, lanes, True, True)
    if TERMS >= 3:
        value += _added(rows2, added2, bias2, places, within, channels, lanes, True, True)
    if DIVISOR > 1:
        value = value / DIVISOR
    if STORES:
        tl.store(total + places, value, mask=within)
    if SNAKE:
        alpha = tl.load(alphas + channels, mask=lanes, other=1.0)[None, :]
        wave = tl.sin(value * alpha)
        value += wave * wave / (alpha + EPS)
    else:
        value = tl.where(value > 0, value, value * SLOPE)

    shown = inside
    if MASKS:
        shown = inside & (positions < end)
    value = tl.where(shown[:, None], value, 0.0)
    if PAST:
        early = (positions < before)[:, None] & lanes[None, :]
        old = past + row * past_stride + channels[None, :] * before + positions[:, None]
        value = tl.where(early, tl.load(old, mask=early, other=0.0), value)
    whole = (positions < length)[:, None] & lanes[None, :]
    tl.store(joined + (row * length + positions)[:, None] * CHANNELS + channels[None, :], value, mask=whole)
    if KEEPS:
        later = positions - (end - before)
        kept = whole & ((later >= 0) & (later < before))[:, None]
        tl.store(following + (row * CHANNELS + channels)[None, :] * before + later[:, None], value, mask=kept)


@triton.jit
def _added(rows, added, bias, places, within, channels, lanes, ADDED: tl.constexpr, BIASED: tl.constexpr):
    """`rows` and, added to them, what was `added` to the bias."""
    value = tl.load(rows + places, mask=within, other=0.0)
    if ADDED:
        more = tl.load(added + places, mask=within, other=0.0)
        if BIASED:
            more += tl.load(bias + channels, mask=lanes, other=0.0)[None, :]
        value += more
    elif BIASED:
        value += tl.load(bias + channels, mask=lanes, other=0.0)[None, :]
    return value
