"""Triton kernels for decoding one token of each row, where torch would launch several for every line of arithmetic.

Each reads its input once, computes in float32 and rounds where the eager network rounds. Triton comes with torch
wherever torch was built for a GPU; only `runtime.executors.fused_lm` imports this file.
"""

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from polyvox.models.qwen.float8 import Weight

SPLIT = 256
"""Keys that one program of the attention handles, as in flash decoding. A row's split does not depend on its batch."""

_KEY_BLOCK = 64
_ATTENTION_WARPS = 4
_SHORT_WARPS = 1
_ATTENTION_STAGES = 3
_SHARED_STAGES = 2
_MIN_GROUP = 16  # tl.dot needs at least so many rows
_GATE_BLOCK = 1024
_WEIGHT_ROWS = 4
"""Rows of a weight that one program multiplies with a single row of input, which all programs read."""
_COLUMN_BLOCK = 1024
_WARPS = 8


_HOPPER = (9, 0)


@cache
def _overlap(device: torch.device) -> dict[str, Any]:
    """Arguments of every launch: on newer GPUs, a kernel starts and reads its weights while the last one ends."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < _HOPPER:
        return {"EARLY": False}
    return {"EARLY": True, "launch_pdl": True}


def add_and_norm(
    rows: Tensor, added: Tensor | None, scale: Tensor, eps: float, dtype: torch.dtype | None = None
) -> Tensor:
    """Add to `rows` [n, width] in place, and return their RMS norm, in `dtype` where it is given."""
    normed = torch.empty_like(rows, dtype=dtype)
    assert rows.is_contiguous()
    count, width = rows.shape
    block = triton.next_power_of_2(width)
    _add_and_norm[(count,)](
        rows,
        rows if added is None else added,
        scale,
        normed,
        width,
        eps,
        ADD=added is not None,
        BLOCK=block,
        **_overlap(rows.device),
    )
    return normed


def rotate_and_store(
    projected: Tensor,
    norms: tuple[Tensor, Tensor] | None,
    eps: float,
    rotation: tuple[Tensor, Tensor],
    cache: tuple[Tensor, Tensor],
    slots: Tensor,
    positions: Tensor,
) -> Tensor:
    """Normalise and rotate queries and keys; return queries [n, heads, width], store keys and values in the cache.

    `projected` [n, (heads + 2 * key heads) * width] holds queries, keys and values. The tables of
    `rotation` are [positions, width / 2], `cache` is keys and values [slots, key heads, capacity, width].
    """
    keys, values = cache
    key_heads, capacity, width = keys.shape[1:]
    count = len(projected)
    heads = projected.shape[1] // width - 2 * key_heads
    queries = projected.new_empty(count, heads, width)
    query_scale, key_scale = norms or (projected, projected)
    _rotate_and_store[(count, heads + 2 * key_heads)](
        projected,
        query_scale,
        key_scale,
        *rotation,
        queries,
        keys,
        values,
        slots.contiguous(),
        positions.contiguous(),
        heads,
        key_heads,
        capacity,
        eps,
        NORM=norms is not None,
        WIDTH=width,
        HALF=width // 2,
        **_overlap(projected.device),
    )
    return queries


def attend_short(
    projected: Tensor,
    norms: tuple[Tensor, Tensor] | None,
    eps: float,
    rotation: tuple[Tensor, Tensor],
    cache: tuple[Tensor, Tensor],
    slots: Tensor,
    positions: Tensor,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """`rotate_and_store` and `attend_slots` in one, for a cache that one program holds: [n, heads, width]."""
    keys, values = cache
    key_heads, capacity, width = keys.shape[1:]
    count = len(projected)
    heads = projected.shape[1] // width - 2 * key_heads
    out = projected.new_empty(count, heads, width, dtype=dtype)
    query_scale, key_scale = norms or (projected, projected)
    _attend_short[(count, key_heads)](
        projected,
        query_scale,
        key_scale,
        *rotation,
        keys,
        values,
        slots.contiguous(),
        positions.contiguous(),
        out,
        capacity,
        eps,
        width**-0.5,
        NORM=norms is not None,
        GROUP=heads // key_heads,
        KEY_HEADS=key_heads,
        HALF=width // 2,
        KEYS=triton.next_power_of_2(capacity),
        num_warps=_SHORT_WARPS,
        **_overlap(projected.device),
    )
    return out


def attend_slots(
    queries: Tensor,
    cache: tuple[Tensor, Tensor],
    slots: Tensor,
    positions: Tensor,
    extent: int,
    dtype: torch.dtype | None = None,
    prefixes: Tensor | None = None,
) -> Tensor:
    """Attention of each row to its slot up to its own position, which lies before `extent`: [n, heads * width].

    The result is in `dtype` where it is given. For `prefixes`, see `attend_split`.
    """
    partial, weights = attend_split(queries, cache, slots, positions, extent, prefixes)
    count, heads, splits, width = partial.shape
    out = torch.empty_like(queries, dtype=dtype)
    _merge[(count, heads)](
        partial,
        weights[0],
        weights[1],
        out,
        heads,
        splits,
        KIND=_triton_dtype(queries.dtype),
        WIDTH=width,
        SPLITS=triton.next_power_of_2(splits),
        **_overlap(queries.device),
    )
    return out.view(count, heads * width)


def attend_split(
    queries: Tensor,
    cache: tuple[Tensor, Tensor],
    slots: Tensor,
    positions: Tensor,
    extent: int,
    prefixes: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """As `attend_slots` before the splits are merged: sums [n, heads, splits, width], maxima and totals [2, ...].

    With `prefixes` (`runtime.shared_prefixes.prefix_table`), rows that begin with the same keys and values read them
    together. A row is split at its prefix's end whether it has company or not, so company does not change its sums.
    """
    keys, values = cache
    key_heads, capacity, width = keys.shape[1:]
    count, heads, _ = queries.shape
    # Two parts that are rounded up may take one split more than the whole.
    splits = triton.cdiv(extent, SPLIT) + (prefixes is not None)
    group = heads // key_heads
    rows = max(_MIN_GROUP, triton.next_power_of_2(group))
    partial = queries.new_empty(count, heads, splits, width, dtype=torch.float32)
    weights = queries.new_empty(2, count, heads, splits, dtype=torch.float32)
    _attend[(count, key_heads, splits)](
        queries,
        keys,
        values,
        slots.contiguous(),
        positions.contiguous(),
        slots if prefixes is None else prefixes.contiguous(),
        partial,
        weights[0],
        weights[1],
        capacity,
        heads,
        splits,
        width**-0.5,
        PREFIXES=prefixes is not None,
        GROUP=group,
        ROWS=rows,
        TILE=rows // group,
        WIDTH=width,
        KEYS=_KEY_BLOCK,
        SPAN=SPLIT,
        num_warps=_ATTENTION_WARPS,
        num_stages=_ATTENTION_STAGES if prefixes is None else _SHARED_STAGES,
        **_overlap(queries.device),
    )
    return partial, weights


def norm_and_project(
    row: Tensor, added: Tensor | None, scale: Tensor, eps: float, weight: Weight, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """For a single row: `row + added`, and its RMS norm times a weight."""
    weight, factor = _unpacked(weight)
    total, out = torch.empty_like(row), row.new_empty(1, len(weight))
    width = row.shape[1]
    _norm_and_project[(triton.cdiv(len(weight), _WEIGHT_ROWS),)](
        row,
        row if added is None else added,
        scale,
        weight,
        weight if factor is None else factor,
        weight if bias is None else bias,
        total,
        out,
        len(weight),
        width,
        eps,
        ADD=added is not None,
        BIAS=bias is not None,
        FLOAT8=factor is not None,
        FEW=_WEIGHT_ROWS,
        BLOCK=triton.next_power_of_2(width),
        num_warps=_WARPS,
        **_overlap(row.device),
    )
    return total, out


def merge_and_project(parts: tuple[Tensor, Tensor], weight: Weight, dtype: torch.dtype) -> Tensor:
    """For a single row: the splits of `attend_split`, merged, times a weight, in `dtype`."""
    partial, weights = parts
    _, heads, splits, width = partial.shape
    weight, factor = _unpacked(weight)
    out = weight.new_empty(1, len(weight), dtype=dtype)
    _merge_and_project[(triton.cdiv(len(weight), _WEIGHT_ROWS),)](
        partial,
        weights[0],
        weights[1],
        weight,
        weight if factor is None else factor,
        out,
        len(weight),
        splits,
        FLOAT8=factor is not None,
        HEADS=heads,
        ROWS=triton.next_power_of_2(heads),
        WIDTH=width,
        SPLITS=triton.next_power_of_2(splits),
        FEW=_WEIGHT_ROWS,
        num_warps=_WARPS,
        **_overlap(weight.device),
    )
    return out


def gate_and_project(both: Tensor, weight: Weight) -> Tensor:
    """For a single row: `gate` times a weight."""
    weight, factor = _unpacked(weight)
    out = both.new_empty(1, len(weight))
    _gate_and_project[(triton.cdiv(len(weight), _WEIGHT_ROWS),)](
        both,
        weight,
        weight if factor is None else factor,
        out,
        len(weight),
        FLOAT8=factor is not None,
        WIDTH=weight.shape[1],
        FEW=_WEIGHT_ROWS,
        BLOCK=_COLUMN_BLOCK,
        num_warps=_WARPS,
        **_overlap(both.device),
    )
    return out


def gate(both: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """SiLU of the first half of each row times the second, in `dtype` where it is given."""
    count, width = both.shape[0], both.shape[1] // 2
    out = both.new_empty(count, width, dtype=dtype or both.dtype)
    _gate[(count, triton.cdiv(width, _GATE_BLOCK))](both, out, width, BLOCK=_GATE_BLOCK, **_overlap(both.device))
    return out


def _unpacked(weight: Weight) -> tuple[Tensor, Tensor | None]:
    """A weight as it lies in memory, and its scale where it is in float8."""
    return (weight, None) if isinstance(weight, Tensor) else (weight.weight, weight.scale)


def _triton_dtype(dtype: torch.dtype) -> Any:
    return {torch.float32: tl.float32, torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}[dtype]


@triton.jit
def _rounded(values, KIND: tl.constexpr, TARGET: tl.constexpr):
    """Values as the network's own precision has them, in the target's."""
    values = values.to(KIND)
    if TARGET.is_fp8():
        values = tl.minimum(tl.maximum(values.to(tl.float32), -448.0), 448.0)
    return values.to(TARGET)


@triton.jit
def _add_and_norm(rows, added, scale, normed, width, eps, ADD: tl.constexpr, BLOCK: tl.constexpr, EARLY: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    valid = columns < width
    factor = tl.load(scale + columns, mask=valid, other=0.0).to(tl.float32)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    start = tl.program_id(0) * width
    row = tl.load(rows + start + columns, mask=valid, other=0.0).to(tl.float32)
    if ADD:
        total = row + tl.load(added + start + columns, mask=valid, other=0.0).to(tl.float32)
        rounded = total.to(rows.dtype.element_ty)
        tl.store(rows + start + columns, rounded, mask=valid)
        row = rounded.to(tl.float32)
    row = row * tl.rsqrt(tl.sum(row * row, axis=0) / width + eps)
    row = row * factor
    tl.store(normed + start + columns, _rounded(row, rows.dtype.element_ty, normed.dtype.element_ty), mask=valid)


@triton.jit
def _rotate_and_store(
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
    EARLY: tl.constexpr,
):
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
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
def _turned(source, scale, cosine, sine, eps, NORM: tl.constexpr, HALF: tl.constexpr, KIND: tl.constexpr):
    """A head normalised and rotated, in two halves, rounded as the eager network rounds it."""
    half = tl.arange(0, HALF)
    low = tl.load(source + half).to(tl.float32)
    high = tl.load(source + HALF + half).to(tl.float32)
    if NORM:
        factor = tl.rsqrt((tl.sum(low * low, axis=0) + tl.sum(high * high, axis=0)) / (2 * HALF) + eps)
        low = (low * factor * tl.load(scale + half).to(tl.float32)).to(KIND).to(tl.float32)
        high = (high * factor * tl.load(scale + HALF + half).to(tl.float32)).to(KIND).to(tl.float32)
    return (low * cosine - high * sine).to(KIND), (high * cosine + low * sine).to(KIND)


@triton.jit
def _attend_short(
    projected,
    query_scale,
    key_scale,
    cosines,
    sines,
    keys,
    values,
    slots,
    positions,
    out,
    capacity,
    eps,
    scale,
    NORM: tl.constexpr,
    GROUP: tl.constexpr,
    KEY_HEADS: tl.constexpr,
    HALF: tl.constexpr,
    KEYS: tl.constexpr,
    EARLY: tl.constexpr,
):
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(0)
    head = tl.program_id(1)
    kind: tl.constexpr = keys.dtype.element_ty
    width: tl.constexpr = 2 * HALF
    half = tl.arange(0, HALF)
    position = tl.load(positions + row)
    slot = tl.load(slots + row).to(tl.int64)
    cosine = tl.load(cosines + position * HALF + half).to(tl.float32)
    sine = tl.load(sines + position * HALF + half).to(tl.float32)
    source = projected + row * (GROUP + 2) * KEY_HEADS * width
    own = source + (GROUP * KEY_HEADS + head) * width
    key_low, key_high = _turned(own, key_scale, cosine, sine, eps, NORM, HALF, kind)
    value_low = tl.load(own + KEY_HEADS * width + half)
    value_high = tl.load(own + KEY_HEADS * width + HALF + half)
    base = (slot * KEY_HEADS + head) * capacity * width
    target = base + position * width
    tl.store(keys + target + half, key_low)
    tl.store(keys + target + HALF + half, key_high)
    tl.store(values + target + half, value_low)
    tl.store(values + target + HALF + half, value_high)

    seen = tl.arange(0, KEYS)
    before = (seen < position)[:, None]
    itself = (seen == position)[:, None]
    place = base + seen[:, None] * width + half
    low = tl.load(keys + place, mask=before, other=0.0)
    low = tl.where(itself, key_low[None, :], low).to(tl.float32)
    high = tl.load(keys + place + HALF, mask=before, other=0.0)
    high = tl.where(itself, key_high[None, :], high).to(tl.float32)
    left = tl.load(values + place, mask=before, other=0.0)
    left = tl.where(itself, value_low[None, :], left).to(tl.float32)
    right = tl.load(values + place + HALF, mask=before, other=0.0)
    right = tl.where(itself, value_high[None, :], right).to(tl.float32)
    rounded: tl.constexpr = out.dtype.element_ty
    for member in tl.static_range(GROUP):
        first = head * GROUP + member
        query_low, query_high = _turned(source + first * width, query_scale, cosine, sine, eps, NORM, HALF, kind)
        scores = tl.sum(query_low.to(tl.float32)[None, :] * low + query_high.to(tl.float32)[None, :] * high, axis=1)
        scores = tl.where(seen <= position, scores * scale, float("-inf"))
        shares = tl.exp(scores - tl.max(scores, axis=0))
        total = tl.sum(shares, axis=0)
        shares = shares.to(kind).to(tl.float32)[:, None]
        goal = out + (row * GROUP * KEY_HEADS + first) * width
        tl.store(goal + half, (tl.sum(shares * left, axis=0) / total).to(rounded))
        tl.store(goal + HALF + half, (tl.sum(shares * right, axis=0) / total).to(rounded))


@triton.jit
def _attend(
    queries,
    keys,
    values,
    slots,
    positions,
    prefixes,
    partial,
    greatest,
    sums,
    capacity,
    heads,
    splits,
    scale,
    PREFIXES: tl.constexpr,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    TILE: tl.constexpr,
    WIDTH: tl.constexpr,
    KEYS: tl.constexpr,
    SPAN: tl.constexpr,
    EARLY: tl.constexpr,
):
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(0)
    key_head = tl.program_id(1)
    split = tl.program_id(2)
    members = tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    slot = tl.load(slots + row).to(tl.int64)
    end = (tl.load(positions + row) + 1).to(tl.int64)
    if PREFIXES:
        count = tl.num_programs(0)
        leader = tl.load(prefixes + row)
        source = tl.load(prefixes + count + row)
        length = tl.load(prefixes + 2 * count + row)
        before = (length + SPAN - 1) // SPAN
        if split < before:
            # The first of each TILE rows that share the prefix does the others' work; theirs ends here.
            slot = source
            begin = (split * SPAN).to(tl.int64)
            leads = (row - leader) % TILE == 0
            end = tl.where(leads, length, begin)
            rows = row + members // GROUP
            valid = leads & (members < TILE * GROUP) & (rows < count)
            valid = valid & (tl.load(prefixes + rows, mask=valid, other=-1) == leader)
        else:
            begin = length + (split - before) * SPAN
            valid = members < GROUP
            rows = row + members // ROWS
        heads_of = rows * heads + key_head * GROUP + members % GROUP
    else:
        begin = (split * SPAN).to(tl.int64)
        valid = members < GROUP
        heads_of = row * heads + key_head * GROUP + members
    kind: tl.constexpr = keys.dtype.element_ty
    query = tl.load(queries + heads_of[:, None] * WIDTH + columns, mask=valid[:, None], other=0.0)
    most = tl.full([ROWS], float("-inf"), tl.float32)
    weight = tl.zeros([ROWS], tl.float32)
    total = tl.zeros([ROWS, WIDTH], tl.float32)
    base = (slot * tl.num_programs(1) + key_head) * capacity
    # Blocks behind the row's end are left out; where all are, the split's weight is zero.
    for start in range(0, tl.minimum(end - begin, SPAN).to(tl.int32), KEYS):
        seen = begin + start + tl.arange(0, KEYS)
        inside = seen < end
        place = (base + seen[:, None]) * WIDTH + columns
        key = tl.load(keys + place, mask=inside[:, None], other=0.0)
        value = tl.load(values + place, mask=inside[:, None], other=0.0)
        scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, axis=1))
        # Before the first key, the difference of two infinities would be NaN.
        level = tl.where(higher == float("-inf"), 0.0, higher)
        shares = tl.exp(scores - level[:, None])
        fading = tl.exp(most - level)
        weight = weight * fading + tl.sum(shares, axis=1)
        total = total * fading[:, None] + tl.dot(shares.to(kind), value, input_precision="ieee")
        most = higher
    target = heads_of * splits + split
    tl.store(partial + target[:, None] * WIDTH + columns, total, mask=valid[:, None])
    tl.store(greatest + target, most, mask=valid)
    tl.store(sums + target, weight, mask=valid)


@triton.jit
def _merge(
    partial,
    greatest,
    sums,
    out,
    heads,
    splits,
    KIND: tl.constexpr,
    WIDTH: tl.constexpr,
    SPLITS: tl.constexpr,
    EARLY: tl.constexpr,
):
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    head = tl.program_id(0) * heads + tl.program_id(1)
    parts = tl.arange(0, SPLITS)
    valid = parts < splits
    columns = tl.arange(0, WIDTH)
    most = tl.load(greatest + head * splits + parts, mask=valid, other=float("-inf"))
    share = tl.exp(most - tl.max(most, axis=0))
    weight = tl.sum(share * tl.load(sums + head * splits + parts, mask=valid, other=0.0), axis=0)
    # A split without keys has a weight of zero; it is left out rather than read.
    used = valid & (share > 0.0)
    part = tl.load(partial + (head * splits + parts[:, None]) * WIDTH + columns, mask=used[:, None], other=0.0)
    total = tl.sum(part * share[:, None], axis=0) / weight
    tl.store(out + head * WIDTH + columns, _rounded(total, KIND, out.dtype.element_ty))


@triton.jit
def _gate(both, out, width, BLOCK: tl.constexpr, EARLY: tl.constexpr):
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    valid = columns < width
    opened = tl.load(both + row * 2 * width + columns, mask=valid, other=0.0).to(tl.float32)
    kind: tl.constexpr = both.dtype.element_ty
    opened = (opened / (1.0 + tl.exp(-opened))).to(kind).to(tl.float32)
    passed = tl.load(both + row * 2 * width + width + columns, mask=valid, other=0.0).to(tl.float32)
    tl.store(out + row * width + columns, _rounded(opened * passed, kind, out.dtype.element_ty), mask=valid)


@triton.jit
def _norm_and_project(
    row,
    added,
    scale,
    weight,
    weight_scale,
    bias,
    total,
    out,
    rows,
    width,
    eps,
    ADD: tl.constexpr,
    BIAS: tl.constexpr,
    FLOAT8: tl.constexpr,
    FEW: tl.constexpr,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
):
    columns = tl.arange(0, BLOCK)
    valid = columns < width
    members = tl.program_id(0) * FEW + tl.arange(0, FEW)
    inside = members < rows
    factors = tl.load(weight + members[:, None] * width + columns, mask=inside[:, None] & valid[None, :], other=0.0)
    factor = tl.load(scale + columns, mask=valid, other=0.0).to(tl.float32)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    kind: tl.constexpr = row.dtype.element_ty
    value = tl.load(row + columns, mask=valid, other=0.0).to(tl.float32)
    if ADD:
        value += tl.load(added + columns, mask=valid, other=0.0).to(tl.float32)
        value = value.to(kind).to(tl.float32)
    if tl.program_id(0) == 0:
        tl.store(total + columns, value.to(kind), mask=valid)
    value = value * tl.rsqrt(tl.sum(value * value, axis=0) / width + eps)
    value = _rounded(value * factor, kind, weight.dtype.element_ty if FLOAT8 else kind).to(tl.float32)
    result = tl.sum(factors.to(tl.float32) * value[None, :], axis=1)
    if FLOAT8:
        result *= tl.load(weight_scale)
    if BIAS:
        result += tl.load(bias + members, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + members, result.to(kind), mask=inside)


@triton.jit
def _merge_and_project(
    partial,
    greatest,
    sums,
    weight,
    weight_scale,
    out,
    rows,
    splits,
    FLOAT8: tl.constexpr,
    HEADS: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    SPLITS: tl.constexpr,
    FEW: tl.constexpr,
    EARLY: tl.constexpr,
):
    heads = tl.arange(0, ROWS)
    real = heads < HEADS
    columns = tl.arange(0, WIDTH)
    members = tl.program_id(0) * FEW + tl.arange(0, FEW)
    inside = members < rows
    place = members[:, None, None] * (HEADS * WIDTH) + heads[None, :, None] * WIDTH + columns
    factors = tl.load(weight + place, mask=inside[:, None, None] & real[None, :, None], other=0.0)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    kind: tl.constexpr = out.dtype.element_ty
    most = tl.full([ROWS], float("-inf"), tl.float32)
    share_sum = tl.zeros([ROWS], tl.float32)
    total = tl.zeros([ROWS, WIDTH], tl.float32)
    for split in tl.static_range(SPLITS):
        used = real & (split < splits)
        level = tl.load(greatest + heads * splits + split, mask=used, other=float("-inf"))
        # Only the first split is sure to have keys; from there on the maximum is finite.
        used = used & (level > float("-inf"))
        higher = tl.maximum(most, level)
        fading = tl.exp(most - tl.where(higher == float("-inf"), 0.0, higher))
        share = tl.where(used, tl.exp(level - tl.where(higher == float("-inf"), 0.0, higher)), 0.0)
        share_sum = share_sum * fading + share * tl.load(sums + heads * splits + split, mask=used, other=0.0)
        place = partial + (heads[:, None] * splits + split) * WIDTH + columns
        total = total * fading[:, None] + share[:, None] * tl.load(place, mask=used[:, None], other=0.0)
        most = higher
    attended = total / tl.where(real, share_sum, 1.0)[:, None]
    attended = _rounded(attended, kind, weight.dtype.element_ty if FLOAT8 else kind).to(tl.float32)
    result = tl.sum(tl.sum(factors.to(tl.float32) * attended[None, :, :], axis=2), axis=1)
    if FLOAT8:
        result *= tl.load(weight_scale)
    tl.store(out + members, result.to(kind), mask=inside)


@triton.jit
def _gate_and_project(
    both,
    weight,
    weight_scale,
    out,
    rows,
    FLOAT8: tl.constexpr,
    WIDTH: tl.constexpr,
    FEW: tl.constexpr,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
):
    members = tl.program_id(0) * FEW + tl.arange(0, FEW)
    inside = members < rows
    kind: tl.constexpr = both.dtype.element_ty
    columns = tl.arange(0, BLOCK)
    place = weight + members[:, None] * WIDTH + columns
    factors = tl.load(place, mask=inside[:, None] & (columns < WIDTH)[None, :], other=0.0)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    result = tl.zeros([FEW], tl.float32)
    for start in tl.static_range(0, WIDTH, BLOCK):
        valid = start + columns < WIDTH
        opened = tl.load(both + start + columns, mask=valid, other=0.0).to(tl.float32)
        opened = (opened / (1.0 + tl.exp(-opened))).to(kind).to(tl.float32)
        passed = tl.load(both + WIDTH + start + columns, mask=valid, other=0.0).to(tl.float32)
        value = _rounded(opened * passed, kind, weight.dtype.element_ty if FLOAT8 else kind).to(tl.float32)
        result += tl.sum(factors.to(tl.float32) * value[None, :], axis=1)
        following = start + BLOCK + columns < WIDTH
        factors = tl.load(place + start + BLOCK, mask=inside[:, None] & following[None, :], other=0.0)
    if FLOAT8:
        result *= tl.load(weight_scale)
    tl.store(out + members, result.to(kind), mask=inside)
