"""Sampling as one Triton kernel, for sequences that neither truncate their distribution nor draw again.

It does what `Sampler.sample` does then, one program for each row. Triton comes with torch wherever torch was built for
a GPU; only `runtime.executors.fused_lm` imports this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from polyvox.runtime.sampling import (
    NO_TOKEN,
    SPLITMIX_FIRST,
    SPLITMIX_GAMMA,
    SPLITMIX_SECOND,
    UNIFORM_BITS,
    SamplerState,
)

_BLOCK = 16_384
_WARPS = 16


def sample(logits: Tensor, slots: Tensor, state: SamplerState) -> Tensor:
    """A token for each row of `logits` [n, vocabulary], by the parameters of its slot, whose state is updated."""
    count, vocabulary = logits.shape
    slots = slots.contiguous()
    tokens = torch.empty_like(slots)
    _sample[(count,)](
        logits,
        slots,
        state.int_params,
        state.float_params,
        state.min_length,
        state.max_length,
        state.seen.view(torch.uint8),
        state.stop.view(torch.uint8),
        state.held.view(torch.uint8),
        state.banned.view(torch.uint8),
        state.recent,
        state.last,
        state.ended.view(torch.uint8),
        tokens,
        logits.stride(0),
        VOCABULARY=vocabulary,
        KEPT=state.recent.shape[1],
        BLOCK=min(_BLOCK, triton.next_power_of_2(vocabulary)),
        GAMMA=SPLITMIX_GAMMA,
        FIRST=SPLITMIX_FIRST,
        SECOND=SPLITMIX_SECOND,
        BITS=UNIFORM_BITS,
        NONE=NO_TOKEN,
        num_warps=_WARPS,
    )
    return tokens


@triton.jit
def _mix(bits, FIRST: tl.constexpr, SECOND: tl.constexpr):
    bits = (bits ^ ((bits >> 30) & 0x3FFFFFFFF)) * FIRST
    bits = (bits ^ ((bits >> 27) & 0x1FFFFFFFFF)) * SECOND
    return bits ^ ((bits >> 31) & 0x1FFFFFFFF)


@triton.jit
def _constrained(logits, seen, held, banned, ids, valid, penalty, too_soon):
    logit = tl.load(logits + ids, mask=valid, other=float("-inf")).to(tl.float32)
    was_seen = tl.load(seen + ids, mask=valid, other=0) != 0
    logit = tl.where(was_seen, tl.where(logit > 0, logit / penalty, logit * penalty), logit)
    masked = tl.load(banned + ids, mask=valid, other=1) != 0
    masked = masked | ((tl.load(held + ids, mask=valid, other=0) != 0) & too_soon)
    return tl.where(masked, float("-inf"), logit)


@triton.jit
def _sample(
    logits,
    slots,
    int_params,
    float_params,
    min_length,
    max_length,
    seen,
    stop,
    held,
    banned,
    recent,
    last,
    ended,
    tokens,
    stride,
    VOCABULARY: tl.constexpr,
    KEPT: tl.constexpr,
    BLOCK: tl.constexpr,
    GAMMA: tl.constexpr,
    FIRST: tl.constexpr,
    SECOND: tl.constexpr,
    BITS: tl.constexpr,
    NONE: tl.constexpr,
):
    row = tl.program_id(0)
    slot = tl.load(slots + row)
    sampled = tl.load(int_params + slot * 4 + 1)
    temperature = tl.load(float_params + slot * 4)
    penalty = tl.load(float_params + slot * 4 + 1)
    too_soon = sampled < tl.load(min_length + slot)
    divisor = tl.where(temperature > 0, temperature, 1.0)
    logits += row * stride
    seen += slot * VOCABULARY
    held += slot * VOCABULARY
    banned += slot * VOCABULARY

    highest = float("-inf")
    likeliest = 0
    total = 0.0
    for start in range(0, VOCABULARY, BLOCK):
        ids = start + tl.arange(0, BLOCK)
        logit = _constrained(logits, seen, held, banned, ids, ids < VOCABULARY, penalty, too_soon)
        here = tl.max(logit, axis=0)
        likeliest = tl.where(here > highest, start + tl.argmax(logit, axis=0), likeliest)
        higher = tl.maximum(highest, here)
        level = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp((highest - level) / divisor) + tl.sum(tl.exp((logit - level) / divisor), axis=0)
        highest = higher

    bits = _mix(tl.load(int_params + slot * 4), FIRST, SECOND) + (2 * sampled + 1) * GAMMA
    bits = (_mix(bits, FIRST, SECOND) >> (64 - BITS)) & ((1 << BITS) - 1)
    target = bits.to(tl.float32) * (1.0 / (1 << BITS)) * total
    reached = 0.0
    chosen = VOCABULARY
    farthest = 0
    for start in range(0, VOCABULARY, BLOCK):
        ids = start + tl.arange(0, BLOCK)
        logit = _constrained(logits, seen, held, banned, ids, ids < VOCABULARY, penalty, too_soon)
        weight = tl.exp((logit - highest) / divisor)
        beyond = (reached + tl.cumsum(weight, axis=0) > target) & (weight > 0)
        chosen = tl.minimum(chosen, tl.min(tl.where(beyond, ids, VOCABULARY), axis=0))
        farthest = tl.maximum(farthest, tl.max(tl.where(weight > 0, ids, 0), axis=0))
        reached += tl.sum(weight, axis=0)
    # Sums taken in another order may fall short of the target by their rounding.
    chosen = tl.where(chosen == VOCABULARY, farthest, chosen)
    # What is not finite, and a row of nothing but forbidden tokens, leaves no total to draw from.
    sound = (total > 0.0) & (total < float("inf"))
    token = tl.where(sound, tl.where(temperature > 0, chosen, likeliest), 0).to(tl.int64)

    tl.store(tokens + row, tl.where(sound, token, NONE))
    tl.store(last + slot, token)
    tl.store(seen + token, tl.full([], 1, tl.uint8))
    tl.store(recent + slot * KEPT + sampled % KEPT, token)
    tl.store(int_params + slot * 4 + 1, sampled + 1)
    over = (tl.load(stop + slot * VOCABULARY + token) != 0) | (sampled + 1 >= tl.load(max_length + slot))
    tl.store(ended + slot, (over | (sound == 0)).to(tl.uint8))
