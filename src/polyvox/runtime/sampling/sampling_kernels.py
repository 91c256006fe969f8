"""Sampling as two Triton kernels, for sequences that neither truncate their distribution nor draw again.

They do what `Sampler.sample` does then. The first sums up each block of a row's vocabulary, so that a single row keeps
much of the GPU busy; the second draws a block by these sums, and a token within it. Triton comes with torch wherever
torch was built for a GPU; only `runtime.executors.fused_lm` imports this file.
"""

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

_BLOCK = 2048
_WARPS = 8


def sample(logits: Tensor, slots: Tensor, state: SamplerState) -> Tensor:
    """A token for each row of `logits` [n, vocabulary], by the parameters of its slot, whose state is updated."""
    count, vocabulary = logits.shape
    slots = slots.contiguous()
    tokens = torch.empty_like(slots)
    block = min(_BLOCK, triton.next_power_of_2(vocabulary))
    blocks = triton.cdiv(vocabulary, block)
    peaks, totals = torch.empty(2, count, blocks, dtype=torch.float32, device=logits.device)
    likeliest = torch.empty(count, blocks, dtype=torch.int32, device=logits.device)
    seen, held, banned = (table.view(torch.uint8) for table in (state.seen, state.held, state.banned))
    given = logits, slots, state.int_params, state.float_params, state.min_length, seen, held, banned
    sizes = {"VOCABULARY": vocabulary, "BLOCK": block, "num_warps": _WARPS}
    _sum_up[(count, blocks)](*given, peaks, totals, likeliest, logits.stride(0), blocks, **sizes)
    _draw[(count,)](
        *given,
        peaks,
        totals,
        likeliest,
        state.max_length,
        state.stop.view(torch.uint8),
        state.recent,
        state.last,
        state.ended.view(torch.uint8),
        tokens,
        logits.stride(0),
        blocks,
        BLOCKS=triton.next_power_of_2(blocks),
        KEPT=state.recent.shape[1],
        GAMMA=SPLITMIX_GAMMA,
        FIRST=SPLITMIX_FIRST,
        SECOND=SPLITMIX_SECOND,
        BITS=UNIFORM_BITS,
        NONE=NO_TOKEN,
        **sizes,
    )
    return tokens


@triton.jit
def mix(bits, FIRST: tl.constexpr, SECOND: tl.constexpr):
    bits = (bits ^ ((bits >> 30) & 0x3FFFFFFFF)) * FIRST
    bits = (bits ^ ((bits >> 27) & 0x1FFFFFFFFF)) * SECOND
    return bits ^ ((bits >> 31) & 0x1FFFFFFFF)


@triton.jit
def constrained(
    logits,
    slots,
    int_params,
    float_params,
    min_length,
    seen,
    held,
    banned,
    stride,
    start,
    VOCABULARY,
    BLOCK: tl.constexpr,
):
    """A block of this program's row as its sequence may sample it, and what it is divided by before the softmax."""
    row = tl.program_id(0)
    slot = tl.load(slots + row)
    temperature = tl.load(float_params + slot * 4)
    penalty = tl.load(float_params + slot * 4 + 1)
    too_soon = tl.load(int_params + slot * 4 + 1) < tl.load(min_length + slot)
    ids = start + tl.arange(0, BLOCK)
    valid = ids < VOCABULARY
    place = slot * VOCABULARY + ids
    logit = tl.load(logits + row * stride + ids, mask=valid, other=float("-inf")).to(tl.float32)
    was_seen = tl.load(seen + place, mask=valid, other=0) != 0
    logit = tl.where(was_seen, tl.where(logit > 0, logit / penalty, logit * penalty), logit)
    masked = tl.load(banned + place, mask=valid, other=1) != 0
    masked = masked | ((tl.load(held + place, mask=valid, other=0) != 0) & too_soon)
    return tl.where(masked, float("-inf"), logit), tl.where(temperature > 0, temperature, 1.0)


@triton.jit
def _sum_up(
    logits,
    slots,
    int_params,
    float_params,
    min_length,
    seen,
    held,
    banned,
    peaks,
    totals,
    likeliest,
    stride,
    blocks,
    VOCABULARY: tl.constexpr,
    BLOCK: tl.constexpr,
):
    start = tl.program_id(1) * BLOCK
    logit, divisor = constrained(
        logits, slots, int_params, float_params, min_length, seen, held, banned, stride, start, VOCABULARY, BLOCK
    )
    peak = tl.max(logit, axis=0)
    # In a block of nothing but forbidden tokens, the difference of two infinities would be NaN.
    level = tl.where(peak == float("-inf"), 0.0, peak)
    place = tl.program_id(0) * blocks + tl.program_id(1)
    tl.store(peaks + place, peak)
    tl.store(totals + place, tl.sum(tl.exp((logit - level) / divisor), axis=0))
    tl.store(likeliest + place, start + tl.argmax(logit, axis=0))


@triton.jit
def _draw(
    logits,
    slots,
    int_params,
    float_params,
    min_length,
    seen,
    held,
    banned,
    peaks,
    totals,
    likeliest,
    max_length,
    stop,
    recent,
    last,
    ended,
    tokens,
    stride,
    blocks,
    VOCABULARY: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
    KEPT: tl.constexpr,
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
    every = tl.arange(0, BLOCKS)
    peak = tl.load(peaks + row * blocks + every, mask=every < blocks, other=float("-inf"))
    share = tl.load(totals + row * blocks + every, mask=every < blocks, other=0.0)
    highest = tl.max(peak, axis=0)
    level = tl.where(highest == float("-inf"), 0.0, highest)
    share = share * tl.exp((peak - level) / tl.where(temperature > 0, temperature, 1.0))
    total = tl.sum(share, axis=0)
    first = tl.min(tl.where(peak == highest, every, BLOCKS - 1), axis=0)
    greedy = tl.load(likeliest + row * blocks + tl.minimum(first, blocks - 1))

    bits = mix(tl.load(int_params + slot * 4), FIRST, SECOND) + (2 * sampled + 1) * GAMMA
    bits = (mix(bits, FIRST, SECOND) >> (64 - BITS)) & ((1 << BITS) - 1)
    target = bits.to(tl.float32) * (1.0 / (1 << BITS)) * total
    # Sums taken in another order may fall short of the target by their rounding: then the farthest is drawn.
    farthest = tl.max(tl.where(share > 0, every, 0), axis=0)
    beyond = (tl.cumsum(share, axis=0) > target) & (share > 0)
    block = tl.minimum(tl.min(tl.where(beyond, every, BLOCKS), axis=0), farthest)
    reached = tl.sum(tl.where(every < block, share, 0.0), axis=0)
    logit, divisor = constrained(
        logits,
        slots,
        int_params,
        float_params,
        min_length,
        seen,
        held,
        banned,
        stride,
        block * BLOCK,
        VOCABULARY,
        BLOCK,
    )
    ids = block * BLOCK + tl.arange(0, BLOCK)
    weight = tl.exp((logit - level) / divisor)
    farthest = tl.max(tl.where(weight > 0, ids, 0), axis=0)
    beyond = (reached + tl.cumsum(weight, axis=0) > target) & (weight > 0)
    chosen = tl.minimum(tl.min(tl.where(beyond, ids, VOCABULARY), axis=0), farthest)
    # What is not finite, and a row of nothing but forbidden tokens, leaves no total to draw from.
    sound = (total > 0.0) & (total < float("inf"))
    token = tl.where(sound, tl.where(temperature > 0, chosen, greedy), 0).to(tl.int64)

    tl.store(tokens + row, tl.where(sound, token, NONE))
    tl.store(last + slot, token)
    tl.store(seen + slot * VOCABULARY + token, tl.full([], 1, tl.uint8))
    tl.store(recent + slot * KEPT + sampled % KEPT, token)
    tl.store(int_params + slot * 4 + 1, sampled + 1)
    over = (tl.load(stop + slot * VOCABULARY + token) != 0) | (sampled + 1 >= tl.load(max_length + slot))
    tl.store(ended + slot, (over | (sound == 0)).to(tl.uint8))
