"""Kernels for one new token of each of many rows, where torch would launch several for every line of arithmetic.

Each reads what it needs once, reckons in single precision and rounds where the plain network rounds. They are written
in Triton, which comes with torch wherever torch was built for a GPU; nothing else may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

SPLIT = 128
"""Keys that one program of the attention sees. A row's sums are cut at the same places whatever its neighbours are."""

_KEYS_AT_ONCE = 64
_LEAST_GROUP = 16  # a product of matrices on the device has at least so many rows
_GATED_AT_ONCE = 1024


def add_and_norm(rows: Tensor, added: Tensor | None, scale: Tensor, eps: float) -> Tensor:
    """Add to `rows` [n, width] where they stand, and return them normalised by their root mean square."""
    normed = torch.empty_like(rows)
    count, width = rows.shape
    block = triton.next_power_of_2(width)
    _add_and_norm[(count,)](
        rows, rows if added is None else added, scale, normed, width, eps, ADD=added is not None, BLOCK=block
    )
    return normed


def place(
    projected: Tensor,
    norms: tuple[Tensor, Tensor] | None,
    eps: float,
    rotation: tuple[Tensor, Tensor],
    memory: tuple[Tensor, Tensor],
    slots: Tensor,
    positions: Tensor,
) -> Tensor:
    """Queries [n, heads, width] ready for attention; keys and values go to their slots and positions.

    `projected` [n, (heads + 2 * key heads) * width] holds queries, keys and values side by side. The tables of
    `rotation` are [positions, width / 2], `memory` is keys and values [slots, key heads, capacity, width].
    """
    keys, values = memory
    key_heads, capacity, width = keys.shape[1:]
    count = len(projected)
    heads = projected.shape[1] // width - 2 * key_heads
    queries = projected.new_empty(count, heads, width)
    query_scale, key_scale = norms or (projected, projected)
    _place[(count, heads + 2 * key_heads)](
        projected,
        query_scale,
        key_scale,
        *rotation,
        queries,
        keys,
        values,
        slots,
        positions,
        heads,
        key_heads,
        capacity,
        eps,
        NORM=norms is not None,
        WIDTH=width,
        HALF=width // 2,
    )
    return queries


def attend_slots(
    queries: Tensor, memory: tuple[Tensor, Tensor], slots: Tensor, positions: Tensor, extent: int
) -> Tensor:
    """What each row's queries make of its slot's keys up to its own position, which lies before `extent`."""
    keys, values = memory
    key_heads, capacity, width = keys.shape[1:]
    count, heads, _ = queries.shape
    splits = triton.cdiv(extent, SPLIT)
    group = heads // key_heads
    partial = queries.new_empty(count, heads, splits, width, dtype=torch.float32)
    weights = queries.new_empty(2, count, heads, splits, dtype=torch.float32)
    _attend[(count, key_heads, splits)](
        queries,
        keys,
        values,
        slots,
        positions,
        partial,
        weights[0],
        weights[1],
        capacity,
        heads,
        splits,
        width**-0.5,
        GROUP=group,
        ROWS=max(_LEAST_GROUP, triton.next_power_of_2(group)),
        WIDTH=width,
        KEYS=_KEYS_AT_ONCE,
        SPAN=SPLIT,
    )
    out = torch.empty_like(queries)
    _merge[(count, heads)](
        partial, weights[0], weights[1], out, heads, splits, WIDTH=width, SPLITS=triton.next_power_of_2(splits)
    )
    return out.view(count, heads * width)


def gate(both: Tensor) -> Tensor:
    """SiLU of the first half of each row times the second."""
    count, width = both.shape[0], both.shape[1] // 2
    out = both.new_empty(count, width)
    _gate[(count, triton.cdiv(width, _GATED_AT_ONCE))](both, out, width, BLOCK=_GATED_AT_ONCE)
    return out


@triton.jit
def _add_and_norm(rows, added, scale, normed, width, eps, ADD: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    there = places < width
    start = tl.program_id(0) * width
    row = tl.load(rows + start + places, mask=there, other=0.0).to(tl.float32)
    if ADD:
        total = row + tl.load(added + start + places, mask=there, other=0.0).to(tl.float32)
        rounded = total.to(rows.dtype.element_ty)
        tl.store(rows + start + places, rounded, mask=there)
        row = rounded.to(tl.float32)
    row = row * tl.rsqrt(tl.sum(row * row, axis=0) / width + eps)
    row = row * tl.load(scale + places, mask=there, other=0.0).to(tl.float32)
    tl.store(normed + start + places, row.to(normed.dtype.element_ty), mask=there)


@triton.jit
def _place(
    projected,
    query_scale,
    key_scale,
    cosines,
    sines,
    queries,
    keys,
    values,
    slots,
    positions,
    heads,
    key_heads,
    capacity,
    eps,
    NORM: tl.constexpr,
    WIDTH: tl.constexpr,
    HALF: tl.constexpr,
):
    row = tl.program_id(0)
    head = tl.program_id(1)
    half = tl.arange(0, HALF)
    source = projected + (row * (heads + 2 * key_heads) + head) * WIDTH
    low = tl.load(source + half).to(tl.float32)
    high = tl.load(source + HALF + half).to(tl.float32)
    position = tl.load(positions + row)
    slot = tl.load(slots + row)
    if head < heads + key_heads:
        is_query = head < heads
        if NORM:
            scale = tl.rsqrt((tl.sum(low * low, axis=0) + tl.sum(high * high, axis=0)) / WIDTH + eps)
            for_query = tl.load(query_scale + half).to(tl.float32), tl.load(query_scale + HALF + half).to(tl.float32)
            for_key = tl.load(key_scale + half).to(tl.float32), tl.load(key_scale + HALF + half).to(tl.float32)
            kind: tl.constexpr = projected.dtype.element_ty
            low = (low * scale * tl.where(is_query, for_query[0], for_key[0])).to(kind).to(tl.float32)
            high = (high * scale * tl.where(is_query, for_query[1], for_key[1])).to(kind).to(tl.float32)
        cosine = tl.load(cosines + position * HALF + half).to(tl.float32)
        sine = tl.load(sines + position * HALF + half).to(tl.float32)
        turned = low * cosine - high * sine
        high = high * cosine + low * sine
        low = turned
        if is_query:
            target = queries + (row * heads + head) * WIDTH
        else:
            target = keys + ((slot * key_heads + head - heads) * capacity + position) * WIDTH
    else:
        target = values + ((slot * key_heads + head - heads - key_heads) * capacity + position) * WIDTH
    tl.store(target + half, low.to(queries.dtype.element_ty))
    tl.store(target + HALF + half, high.to(queries.dtype.element_ty))


@triton.jit
def _attend(
    queries,
    keys,
    values,
    slots,
    positions,
    partial,
    greatest,
    sums,
    capacity,
    heads,
    splits,
    scale,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    KEYS: tl.constexpr,
    SPAN: tl.constexpr,
):
    row = tl.program_id(0)
    key_head = tl.program_id(1)
    split = tl.program_id(2)
    end = tl.load(positions + row) + 1
    slot = tl.load(slots + row)
    members = tl.arange(0, ROWS)
    there = members < GROUP
    columns = tl.arange(0, WIDTH)
    first = row * heads + key_head * GROUP
    kind: tl.constexpr = keys.dtype.element_ty
    query = tl.load(queries + (first + members[:, None]) * WIDTH + columns, mask=there[:, None], other=0.0)
    most = tl.full([ROWS], float("-inf"), tl.float32)
    weight = tl.zeros([ROWS], tl.float32)
    total = tl.zeros([ROWS, WIDTH], tl.float32)
    base = (slot * tl.num_programs(1) + key_head) * capacity
    for part in tl.static_range(SPAN // KEYS):
        seen = split * SPAN + part * KEYS + tl.arange(0, KEYS)
        inside = seen < end
        place = (base + seen[:, None]) * WIDTH + columns
        key = tl.load(keys + place, mask=inside[:, None], other=0.0)
        value = tl.load(values + place, mask=inside[:, None], other=0.0)
        scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, axis=1))
        # Where nothing has been seen yet, the difference of two infinities would be no number.
        level = tl.where(higher == float("-inf"), 0.0, higher)
        shares = tl.exp(scores - level[:, None])
        fading = tl.exp(most - level)
        weight = weight * fading + tl.sum(shares, axis=1)
        total = total * fading[:, None] + tl.dot(shares.to(kind), value, input_precision="ieee")
        most = higher
    target = (first + members) * splits + split
    tl.store(partial + target[:, None] * WIDTH + columns, total, mask=there[:, None])
    tl.store(greatest + target, most, mask=there)
    tl.store(sums + target, weight, mask=there)


@triton.jit
def _merge(partial, greatest, sums, out, heads, splits, WIDTH: tl.constexpr, SPLITS: tl.constexpr):
    head = tl.program_id(0) * heads + tl.program_id(1)
    parts = tl.arange(0, SPLITS)
    there = parts < splits
    columns = tl.arange(0, WIDTH)
    most = tl.load(greatest + head * splits + parts, mask=there, other=float("-inf"))
    share = tl.exp(most - tl.max(most, axis=0))
    weight = tl.sum(share * tl.load(sums + head * splits + parts, mask=there, other=0.0), axis=0)
    # A part that saw nothing has a share of zero; it is left out rather than read.
    used = there & (share > 0.0)
    part = tl.load(partial + (head * splits + parts[:, None]) * WIDTH + columns, mask=used[:, None], other=0.0)
    total = tl.sum(part * share[:, None], axis=0) / weight
    tl.store(out + head * WIDTH + columns, total.to(out.dtype.element_ty))


@triton.jit
def _gate(both, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = places < width
    opened = tl.load(both + row * 2 * width + places, mask=there, other=0.0).to(tl.float32)
    kind: tl.constexpr = both.dtype.element_ty
    opened = (opened / (1.0 + tl.exp(-opened))).to(kind).to(tl.float32)
    passed = tl.load(both + row * 2 * width + width + places, mask=there, other=0.0).to(tl.float32)
    tl.store(out + row * width + places, (opened * passed).to(kind), mask=there)
