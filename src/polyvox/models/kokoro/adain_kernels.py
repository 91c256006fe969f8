"""A kernel for Kokoro's norms, where torch would read and write every sample a dozen times.

It is written in Triton, which comes with torch wherever torch was built for a GPU; nothing else may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_AT_ONCE = (512, 4096)
"""Samples that a program takes in one step: few sizes, for each is compiled by itself."""
_SAMPLES_OF_A_WARP = 256


def normed_and_bent(rows: Tensor, style: Tensor, ends: Tensor, eps: float, bend: Tensor | float) -> Tensor:
    """What `polyvox.models.kokoro.adain.NormKernel` says, for rows in one piece."""
    rows = rows.contiguous()
    batch, channels, time = rows.shape
    out = torch.empty_like(rows)
    snake = isinstance(bend, Tensor)
    block = _AT_ONCE[time > _AT_ONCE[0]]
    _norm_and_bend[(batch * channels,)](
        rows,
        style.contiguous(),
        ends,
        bend if snake else style,
        out,
        channels,
        time,
        EPS=eps,
        SLOPE=None if snake else bend,
        EXACT=tl.float64 if rows.dtype == torch.float64 else tl.float32,
        BLOCK=block,
        num_warps=block // _SAMPLES_OF_A_WARP,
    )
    return out


@triton.jit(do_not_specialize=["channels", "time"])
def _norm_and_bend(
    rows,
    style,
    ends,
    rates,
    out,
    channels,
    time,
    EPS: tl.constexpr,
    SLOPE: tl.constexpr,
    EXACT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    line = tl.program_id(0)
    row = line // channels
    channel = line % channels
    end = tl.load(ends + row).to(tl.int32)
    start = line.to(tl.int64) * time
    steps = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], EXACT)
    first = 0
    while first < end:
        places = first + steps
        first += BLOCK
        total += tl.load(rows + start + places, mask=places < end, other=0.0).to(EXACT)
    mean = tl.sum(total, axis=0) / end
    squares = tl.zeros([BLOCK], EXACT)
    first = 0
    while first < end:
        places = first + steps
        first += BLOCK
        centred = tl.load(rows + start + places, mask=places < end, other=0.0).to(EXACT) - mean
        squares += tl.where(places < end, centred * centred, 0.0)
    scale = tl.load(style + row * 2 * channels + channel).to(EXACT)
    shift = tl.load(style + (row * 2 + 1) * channels + channel).to(EXACT)
    gain = scale / tl.sqrt(tl.sum(squares, axis=0) / end + EPS)
    rate = tl.load(rates + channel).to(EXACT)
    first = 0
    while first < time:
        places = first + steps
        first += BLOCK
        value = (tl.load(rows + start + places, mask=places < end, other=0.0).to(EXACT) - mean) * gain + shift
        if SLOPE is None:
            wave = tl.sin(value * rate)
            value += wave * wave / rate
        else:
            value = tl.where(value < 0, value * SLOPE, value)
        value = tl.where(places < end, value, 0.0)
        tl.store(out + start + places, value.to(out.dtype.element_ty), mask=places < time)
