"""The usual way of drawing a token as one kernel: all tokens count, and none is drawn again.

It does what `Sampler.draw` does then, one program for each row. It is written in Triton, which comes with torch
wherever torch was built for a GPU; nothing else may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from polyvox.runtime.sampling import BITS, FIRST, GAMMA, SECOND, Tables

_AT_ONCE = 16_384
_WARPS = 16


def draw(scores: Tensor, slots: Tensor, tables: Tables) -> Tensor:
    """A token for each row of `scores` [n, vocabulary], by the rules of its slot, which remembers it."""
    count, vocabulary = scores.shape
    slots = slots.contiguous()
    tokens = torch.empty_like(slots)
    _draw[(count,)](
        scores,
        slots,
        tables.counts,
        tables.shares,
        tables.free_to_end,
        tables.most,
        tables.seen.view(torch.uint8),
        tables.ends.view(torch.uint8),
        tables.held.view(torch.uint8),
        tables.banned.view(torch.uint8),
        tables.recent,
        tables.last,
        tables.ended.view(torch.uint8),
        tokens,
        scores.stride(0),
        VOCABULARY=vocabulary,
        KEPT=tables.recent.shape[1],
        BLOCK=min(_AT_ONCE, triton.next_power_of_2(vocabulary)),
        GAMMA=GAMMA,
        FIRST=FIRST,
        SECOND=SECOND,
        BITS=BITS,
        num_warps=_WARPS,
    )
    return tokens


@triton.jit
def _mixed(bits, FIRST: tl.constexpr, SECOND: tl.constexpr):
    bits = (bits ^ ((bits >> 30) & 0x3FFFFFFFF)) * FIRST
    bits = (bits ^ ((bits >> 27) & 0x1FFFFFFFFF)) * SECOND
    return bits ^ ((bits >> 31) & 0x1FFFFFFFF)


@triton.jit
def _allowed(scores, seen, held, banned, places, there, penalty, too_soon):
    score = tl.load(scores + places, mask=there, other=float("-inf")).to(tl.float32)
    was_seen = tl.load(seen + places, mask=there, other=0) != 0
    score = tl.where(was_seen, tl.where(score > 0, score / penalty, score * penalty), score)
    barred = tl.load(banned + places, mask=there, other=1) != 0
    barred = barred | ((tl.load(held + places, mask=there, other=0) != 0) & too_soon)
    return tl.where(barred, float("-inf"), score)


@triton.jit
def _draw(
    scores,
    slots,
    counts,
    shares,
    free_to_end,
    most_tokens,
    seen,
    ends,
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
):
    row = tl.program_id(0)
    slot = tl.load(slots + row)
    drawn = tl.load(counts + slot * 4 + 1)
    temperature = tl.load(shares + slot * 4)
    penalty = tl.load(shares + slot * 4 + 1)
    too_soon = drawn < tl.load(free_to_end + slot)
    divisor = tl.where(temperature > 0, temperature, 1.0)
    scores += row * stride
    seen += slot * VOCABULARY
    held += slot * VOCABULARY
    banned += slot * VOCABULARY

    highest = float("-inf")
    likeliest = 0
    total = 0.0
    for start in range(0, VOCABULARY, BLOCK):
        places = start + tl.arange(0, BLOCK)
        score = _allowed(scores, seen, held, banned, places, places < VOCABULARY, penalty, too_soon)
        here = tl.max(score, axis=0)
        likeliest = tl.where(here > highest, start + tl.argmax(score, axis=0), likeliest)
        higher = tl.maximum(highest, here)
        level = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp((highest - level) / divisor) + tl.sum(tl.exp((score - level) / divisor), axis=0)
        highest = higher

    bits = _mixed(tl.load(counts + slot * 4), FIRST, SECOND) + (2 * drawn + 1) * GAMMA
    bits = (_mixed(bits, FIRST, SECOND) >> (64 - BITS)) & ((1 << BITS) - 1)
    target = bits.to(tl.float32) * (1.0 / (1 << BITS)) * total
    reached = 0.0
    chosen = VOCABULARY
    farthest = 0
    for start in range(0, VOCABULARY, BLOCK):
        places = start + tl.arange(0, BLOCK)
        score = _allowed(scores, seen, held, banned, places, places < VOCABULARY, penalty, too_soon)
        weight = tl.exp((score - highest) / divisor)
        beyond = (reached + tl.cumsum(weight, axis=0) > target) & (weight > 0)
        chosen = tl.minimum(chosen, tl.min(tl.where(beyond, places, VOCABULARY), axis=0))
        farthest = tl.maximum(farthest, tl.max(tl.where(weight > 0, places, 0), axis=0))
        reached += tl.sum(weight, axis=0)
    # Sums taken in another order may fall short of the target by their rounding.
    chosen = tl.where(chosen == VOCABULARY, farthest, chosen)
    # Among scores that are no numbers there is no greatest, but a token must be one of the vocabulary's.
    token = tl.minimum(tl.where(temperature > 0, chosen, likeliest), VOCABULARY - 1).to(tl.int64)

    tl.store(tokens + row, token)
    tl.store(last + slot, token)
    tl.store(seen + token, tl.full([], 1, tl.uint8))
    tl.store(recent + slot * KEPT + drawn % KEPT, token)
    tl.store(counts + slot * 4 + 1, drawn + 1)
    over = (tl.load(ends + slot * VOCABULARY + token) != 0) | (drawn + 1 >= tl.load(most_tokens + slot))
    tl.store(ended + slot, over.to(tl.uint8))
