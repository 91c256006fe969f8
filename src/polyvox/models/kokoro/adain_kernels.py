"""A fused Triton kernel for AdaIN and its activation; PyTorch would read and write every sample a dozen times.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCKS = (512, 4096)
"""Block sizes, in samples: few, since the kernel is compiled for each."""
_SAMPLES_PER_WARP = 256


def adain_activated(rows: Tensor, style: Tensor, ends: Tensor, eps: float, activation: Tensor | float) -> Tensor:
    """Implement `polyvox.models.kokoro.adain.NormKernel`."""
    rows = rows.contiguous()
    batch, channels, time = rows.shape
    out = torch.empty_like(rows)
    snake = isinstance(activation, Tensor)
    block = _BLOCKS[time > _BLOCKS[0]]
    _adain_kernel[(batch * channels,)](
        rows,
        style.contiguous(),
        ends,
        activation if snake else style,
        out,
        channels,
        time,
        EPS=eps,
        SLOPE=None if snake else activation,
        EXACT=tl.float64 if rows.dtype == torch.float64 else tl.float32,
        BLOCK=block,
        num_warps=block // _SAMPLES_PER_WARP,
    )
    return out


@triton.jit(do_not_specialize=["channels", "time"])
def _adain_kernel(
    rows,
    style,
    ends,
    alphas,
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
        positions = first + steps
        first += BLOCK
        total += tl.load(rows + start + positions, mask=positions < end, other=0.0).to(EXACT)
    mean = tl.sum(total, axis=0) / end
    squares = tl.zeros([BLOCK], EXACT)
    first = 0
    while first < end:
        positions = first + steps
        first += BLOCK
        centred = tl.load(rows + start + positions, mask=positions < end, other=0.0).to(EXACT) - mean
        squares += tl.where(positions < end, centred * centred, 0.0)
    scale = tl.load(style + row * 2 * channels + channel).to(EXACT)
    shift = tl.load(style + (row * 2 + 1) * channels + channel).to(EXACT)
    gain = scale / tl.sqrt(tl.sum(squares, axis=0) / end + EPS)
    alpha = tl.load(alphas + channel).to(EXACT)
    first = 0
    while first < time:
        positions = first + steps
        first += BLOCK
        value = (tl.load(rows + start + positions, mask=positions < end, other=0.0).to(EXACT) - mean) * gain + shift
        if SLOPE is None:
            wave = tl.sin(value * alpha)
            value += wave * wave / alpha
        else:
            value = tl.where(value < 0, value * SLOPE, value)
        value = tl.where(positions < end, value, 0.0)
        tl.store(out + start + positions, value.to(out.dtype.element_ty), mask=positions < time)
