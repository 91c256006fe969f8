"""A fused Triton kernel for `waveform.activated`, which PyTorch would compute in eight passes over memory.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import triton
import triton.language as tl
from torch import Tensor

from polyvox.models.qwen3tts.waveform import Sum

_BLOCK = 1024


def activated(given: Sum, alpha: Tensor, beta: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
    """The sum, in place, and its activation behind `before`."""
    rows = given.rows.contiguous()
    batch, time, channels = rows.shape
    context = 0 if before is None else before.shape[1]
    joined = rows.new_empty(batch, context + time, channels)
    none = rows.view(-1)
    _activated[(batch, triton.cdiv((context + time) * channels, _BLOCK))](
        rows,
        none if given.added is None else given.added.contiguous(),
        none if given.bias is None else given.bias,
        alpha,
        beta,
        none if before is None else before.contiguous(),
        joined,
        time,
        context,
        ADD=given.added is not None,
        BIAS=given.bias is not None,
        CHANNELS=channels,
        BLOCK=_BLOCK,
    )
    return rows, joined


@triton.jit(do_not_specialize=["time", "context"])
def _activated(
    rows,
    added,
    biases,
    alphas,
    betas,
    before,
    joined,
    time,
    context,
    ADD: tl.constexpr,
    BIAS: tl.constexpr,
    CHANNELS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    stream = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    past = context * CHANNELS
    size = past + time * CHANNELS
    old = places < past
    new = (places >= past) & (places < size)
    channel = places % CHANNELS
    source = stream * time * CHANNELS + places - past
    value = tl.load(rows + source, mask=new, other=0.0)
    if ADD:
        value += tl.load(added + source, mask=new, other=0.0)
    if BIAS:
        value += tl.load(biases + channel)
    if ADD or BIAS:
        tl.store(rows + source, value, mask=new)
    wave = tl.sin(value * tl.load(alphas + channel))
    value += tl.load(betas + channel) * wave * wave
    value = tl.where(old, tl.load(before + stream * past + places, mask=old, other=0.0), value)
    tl.store(joined + stream * size + places, value, mask=old | new)
