"""Draws within top-k and top-p as one Triton kernel a draw, where torch would sort and launch some thirty.

The threshold is found bit by bit: non-negative floats are ordered as their bits are. Triton comes with torch wherever
torch was built for a GPU; only code that has checked for it may import this file.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from polyvox.runtime.sampling.sampler import (
    NO_TOKEN,
    SPLITMIX_FIRST,
    SPLITMIX_GAMMA,
    SPLITMIX_SECOND,
    UNIFORM_BITS,
    SamplerState,
)
from polyvox.runtime.sampling.sampling_kernels import constrained, mix

MAX_VOCABULARY = 4096
"""Largest vocabulary that one program holds."""
_WARPS = 8
_CONSTANTS: dict[str, Any] = {
    "GAMMA": SPLITMIX_GAMMA,
    "FIRST": SPLITMIX_FIRST,
    "SECOND": SPLITMIX_SECOND,
    "RANDOM_BITS": UNIFORM_BITS,
}


def draw_codes(
    logits: Tensor,
    slots: Tensor,
    seeds: Tensor,
    steps: Tensor,
    float_params: Tensor,
    top_k: Tensor,
    offset: tuple[int, int],
) -> Tensor:
    """A code for each row of `logits` [n, codes], as `sampling.draw` draws it with nested limits; 0 where they fail.

    `seeds`, `steps` and `top_k` [slots] and `float_params` [slots, 2], temperature and top-p, are looked up by slot.
    The draw's number is `steps * offset[0] + offset[1]`.
    """
    count, vocabulary = logits.shape
    codes = torch.empty_like(slots)
    _draw_codes[(count,)](
        logits,
        slots,
        seeds,
        steps,
        float_params,
        top_k,
        codes,
        logits.stride(0),
        offset[0],
        offset[1],
        VOCABULARY=vocabulary,
        BLOCK=triton.next_power_of_2(vocabulary),
        num_warps=_WARPS,
        **_CONSTANTS,
    )
    return codes


def sample_limited(logits: Tensor, slots: Tensor, state: SamplerState) -> Tensor:
    """A token for each row of `logits`, as `Sampler.sample` samples it with nested limits and without redraws."""
    count, vocabulary = logits.shape
    slots = slots.contiguous()
    tokens = torch.empty_like(slots)
    seen, held, banned = (table.view(torch.uint8) for table in (state.seen, state.held, state.banned))
    _sample_limited[(count,)](
        logits,
        slots,
        state.int_params,
        state.float_params,
        state.min_length,
        seen,
        held,
        banned,
        state.max_length,
        state.stop.view(torch.uint8),
        state.recent,
        state.last,
        state.ended.view(torch.uint8),
        tokens,
        logits.stride(0),
        VOCABULARY=vocabulary,
        BLOCK=triton.next_power_of_2(vocabulary),
        KEPT=state.recent.shape[1],
        NONE=NO_TOKEN,
        num_warps=_WARPS,
        **_CONSTANTS,
    )
    return tokens


@triton.jit
def _limited(weight, top_k, top_p):
    """The weights within top-k and, of these, within top-p; zeros for the others."""
    bits = weight.to(tl.int32, bitcast=True)
    least = tl.full([], 0, tl.int32)
    for index in range(30):
        tried = least | (1 << (29 - index))
        least = tl.where(tl.sum((bits >= tried).to(tl.int32), axis=0) >= top_k, tried, least)
    weight = tl.where(bits >= least, weight, 0.0)
    if top_p < 1.0:
        share = top_p * tl.sum(weight, axis=0)
        bits = weight.to(tl.int32, bitcast=True)
        least = tl.full([], 0, tl.int32)
        for index in range(30):
            tried = least | (1 << (29 - index))
            least = tl.where(tl.sum(tl.where(bits >= tried, weight, 0.0), axis=0) >= share, tried, least)
        weight = tl.where(bits >= least, weight, 0.0)
    return weight


@triton.jit
def _drawn(
    logit,
    ids,
    temperature,
    top_k,
    top_p,
    seed,
    step,
    VOCABULARY: tl.constexpr,
    GAMMA: tl.constexpr,
    FIRST: tl.constexpr,
    SECOND: tl.constexpr,
    RANDOM_BITS: tl.constexpr,
):
    """A token by these logits, and whether they were finite."""
    peak = tl.max(logit, axis=0)
    level = tl.where(peak == float("-inf"), 0.0, peak)
    every = tl.exp((logit - level) / tl.where(temperature > 0, temperature, 1.0))
    total = tl.sum(every, axis=0)
    weight = _limited(every, top_k, top_p)
    bits = mix(seed, FIRST, SECOND) + (2 * step + 1) * GAMMA
    bits = (mix(bits, FIRST, SECOND) >> (64 - RANDOM_BITS)) & ((1 << RANDOM_BITS) - 1)
    target = bits.to(tl.float32) * (1.0 / (1 << RANDOM_BITS)) * tl.sum(weight, axis=0)
    farthest = tl.max(tl.where(weight > 0, ids, 0), axis=0)
    beyond = (tl.cumsum(weight, axis=0) > target) & (weight > 0)
    chosen = tl.minimum(tl.min(tl.where(beyond, ids, VOCABULARY), axis=0), farthest)
    greedy = tl.argmax(logit, axis=0)
    sound = (total > 0.0) & (total < float("inf"))
    return tl.where(sound, tl.where(temperature > 0, chosen, greedy), 0).to(tl.int64), sound


@triton.jit
def _draw_codes(
    logits,
    slots,
    seeds,
    steps,
    float_params,
    top_ks,
    codes,
    stride,
    groups,
    group,
    VOCABULARY: tl.constexpr,
    BLOCK: tl.constexpr,
    GAMMA: tl.constexpr,
    FIRST: tl.constexpr,
    SECOND: tl.constexpr,
    RANDOM_BITS: tl.constexpr,
):
    row = tl.program_id(0)
    slot = tl.load(slots + row)
    ids = tl.arange(0, BLOCK)
    logit = tl.load(logits + row * stride + ids, mask=ids < VOCABULARY, other=float("-inf")).to(tl.float32)
    token, _ = _drawn(
        logit,
        ids,
        tl.load(float_params + slot * 2),
        tl.load(top_ks + slot),
        tl.load(float_params + slot * 2 + 1),
        tl.load(seeds + slot),
        tl.load(steps + slot) * groups + group,
        VOCABULARY,
        GAMMA,
        FIRST,
        SECOND,
        RANDOM_BITS,
    )
    tl.store(codes + row, token)


@triton.jit
def _sample_limited(
    logits,
    slots,
    int_params,
    float_params,
    min_length,
    seen,
    held,
    banned,
    max_length,
    stop,
    recent,
    last,
    ended,
    tokens,
    stride,
    VOCABULARY: tl.constexpr,
    BLOCK: tl.constexpr,
    KEPT: tl.constexpr,
    NONE: tl.constexpr,
    GAMMA: tl.constexpr,
    FIRST: tl.constexpr,
    SECOND: tl.constexpr,
    RANDOM_BITS: tl.constexpr,
):
    row = tl.program_id(0)
    slot = tl.load(slots + row)
    sampled = tl.load(int_params + slot * 4 + 1)
    logit, _ = constrained(
        logits, slots, int_params, float_params, min_length, seen, held, banned, stride, 0, VOCABULARY, BLOCK
    )
    token, sound = _drawn(
        logit,
        tl.arange(0, BLOCK),
        tl.load(float_params + slot * 4),
        tl.load(int_params + slot * 4 + 2),
        tl.load(float_params + slot * 4 + 2),
        tl.load(int_params + slot * 4),
        sampled,
        VOCABULARY,
        GAMMA,
        FIRST,
        SECOND,
        RANDOM_BITS,
    )
    tl.store(tokens + row, tl.where(sound, token, NONE))
    tl.store(last + slot, token)
    tl.store(seen + slot * VOCABULARY + token, tl.full([], 1, tl.uint8))
    tl.store(recent + slot * KEPT + sampled % KEPT, token)
    tl.store(int_params + slot * 4 + 1, sampled + 1)
    over = (tl.load(stop + slot * VOCABULARY + token) != 0) | (sampled + 1 >= tl.load(max_length + slot))
    tl.store(ended + slot, (over | (sound == 0)).to(tl.uint8))
